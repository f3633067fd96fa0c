//! Processes that got away from their run: without its mark, its session and its parents, and without a control group
//! they cannot be found once the keeper is dead.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use fleet_testkit::wait_until;
use serde_json::Value;

use super::processes::kill;
use super::stage::{BOUND, Stage, branch_of};

/// Somebody who writes into a folder again and again, by its path and from inside.
struct Writer(Child);

impl Writer {
    fn in_folder(place: &Path) -> Self {
        let script =
            "i=0; while :; do i=$((i+1)); echo x > inside-$i; echo x > \"$1/outside-$i\"; sleep 0.05; done";
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", script, "sh"]).arg(place).current_dir(place).env_clear();
        Self(shell.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// As on a machine where no control group can be made.
fn forget_group(stage: &Stage, run: &str) {
    let file = stage.run_folder(run).join("tree.json");
    let mut tree: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    tree["group"] = Value::Null;
    fs::write(&file, serde_json::to_vec(&tree).unwrap()).unwrap();
}

#[test]
fn what_an_escaped_process_writes_gets_into_nobodys_work() {
    let stage = Stage::new();
    let first = stage.add(&stage.steps());
    let runner = stage.run(None);
    stage.wait_for("written");
    let (run, place) = (stage.live_run(), stage.worktree());
    stage.agent_pid(&run);
    let writer = Writer::in_folder(&place);
    wait_until(BOUND, "it writes", || place.join("outside-3").exists());
    forget_group(&stage, &run);
    kill(stage.keeper_pid(&run));
    stage.give("go");
    stage.wait_status(&first, "done");
    // Whatever is warm is used by those who come now.
    let marks: Vec<String> = (0..2)
        .map(|number| {
            let mark = stage.sign(&format!("ran-{number}"));
            stage.add(&format!("write {number}.txt mine\ntouch {}\nsleep 300ms", mark.display()))
        })
        .collect();
    for task in &marks {
        stage.wait_status(task, "done");
        let files = stage.repo.git(&["diff", "--name-only", &stage.head, &branch_of(task)]);
        assert_eq!(files.lines().count(), 1, "only its own file is on the branch of {task}: {files}");
    }
    drop(writer);
    stage.assert_well(&first, runner);
}
