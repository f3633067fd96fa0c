//! From a task to its agent, and from the end of one agent to the next.

use std::time::{SystemTime, UNIX_EPOCH};

use super::rig::{RunRig, made_at, script, wait};
use crate::BenchSetting;
use crate::report::{Goal, ReportRow};
use crate::timing::{median, millis};

const ROUNDS: usize = 31;
const FILES: usize = 100;
/// What may come on top of git's own work.
const ALLOWED: f64 = 20.0;

pub(crate) fn run(setting: &BenchSetting) -> Vec<ReportRow> {
    let mut rig = RunRig::new(setting, FILES);
    rig.start("4");
    let (mut first, mut next, mut floor) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        first.push(add_to_exec(&rig, round));
        next.push(end_to_exec(&rig, round));
        floor.push(worktree_add(&rig, round));
    }
    let (first, next, floor) = (median(first), median(next), median(floor));
    let row = |what: &str, figure: f64| {
        let baseline = (floor + ALLOWED, "ms, `git worktree add` + 20 ms");
        ReportRow::new(what, (figure, "ms"), baseline, Goal::AtMost(1.0))
    };
    vec![
        row("from the start of `task add` to the agent's first act, runner up", first),
        row("from the end of an agent to the dependent's first act", next),
    ]
}

fn add_to_exec(rig: &RunRig, round: usize) -> f64 {
    let mark = rig.mark(&format!("first-{round}"));
    let steps = script(&format!("touch {}", mark.display()));
    let begun = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs_f64() * 1_000.0;
    rig.fleet(&["task", "add", "first", "--agent", "demo", "--read-only", "-d", &steps]);
    wait("the agent works", || mark.exists());
    rig.quiet();
    made_at(&mark) - begun
}

fn end_to_exec(rig: &RunRig, round: usize) -> f64 {
    let (end, begin) = (rig.mark(&format!("end-{round}")), rig.mark(&format!("begin-{round}")));
    let add = |steps: String, after: Option<&str>| {
        let steps = script(&steps);
        let mut arguments = vec!["task", "add", "-q", "next", "--agent", "demo", "--read-only", "-d", &steps];
        arguments.extend(after.iter().flat_map(|id| ["--after", id]));
        let mut command = rig.command(&arguments);
        let output = command.stdout(std::process::Stdio::piped()).output().expect("it starts");
        String::from_utf8(output.stdout).expect("an id").trim().to_owned()
    };
    let go = rig.mark(&format!("go-{round}"));
    let id = add(format!("wait-for {}\ntouch {}", go.display(), end.display()), None);
    add(format!("touch {}", begin.display()), Some(&id));
    std::fs::write(&go, "").expect("a file");
    wait("the dependent works", || begin.exists());
    rig.quiet();
    made_at(&begin) - made_at(&end)
}

fn worktree_add(rig: &RunRig, round: usize) -> f64 {
    let path = rig.mark(&format!("worktree-{round}"));
    let path = path.to_str().expect("a plain path");
    let branch = format!("floor-{round}");
    let took = millis(|| rig.git(&["worktree", "add", "-q", "-b", &branch, path]));
    rig.git(&["worktree", "remove", path]);
    took
}
