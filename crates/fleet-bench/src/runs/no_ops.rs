//! Two hundred tasks that do nothing, end to end, against the git commands and processes of which they consist.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::rig::{RunRig, script};
use crate::BenchSetting;
use crate::report::{Goal, ReportRow};
use crate::timing::{median, millis};

const TASKS: usize = 200;
const SLOTS: &str = "8";
const ROUNDS: usize = 3;
const FILES: usize = 100;

pub(crate) fn run(setting: &BenchSetting) -> Vec<ReportRow> {
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(whole(setting));
        bare.push(floor(setting));
    }
    let baseline = (median(bare), "ms, their git commands and agents, two at a time");
    vec![ReportRow::new(
        "200 no-op tasks end to end, 8 slots",
        (median(ours), "ms"),
        baseline,
        Goal::AtMost(2.0),
    )]
}

fn whole(setting: &BenchSetting) -> f64 {
    let rig = RunRig::new(setting, FILES);
    let line = serde_json::json!({
        "title": "nothing", "agent": "demo", "read_only": true, "description": script("say nothing"),
    });
    let file = rig.mark("tasks.jsonl");
    std::fs::write(&file, format!("{line}\n").repeat(TASKS)).expect("a file");
    rig.fleet(&["task", "import", file.to_str().expect("a plain path")]);
    millis(|| rig.fleet(&["run", "--slots", SLOTS, "--until-idle"]))
}

/// What a run of a task that does nothing would ask of git, in its order. `fleet-host/git` does it without a git where a
/// worktree is as it was left, and that is to its credit.
fn steps(base: &str, branch: &str) -> Vec<Vec<String>> {
    let all = [
        format!("branch --quiet --no-track -- {branch} {base}"),
        STATUS.to_owned(),
        // Here the agent works.
        STATUS.to_owned(),
        format!("update-ref --no-deref -d refs/heads/{branch} {base}"),
    ];
    all.iter().map(|line| line.split(' ').map(ToOwned::to_owned).collect()).collect()
}

const STATUS: &str =
    "status --porcelain=v2 -z --untracked-files=normal --ignore-submodules=none --ignored=traditional";

/// The same git commands and the same agent without anything around them, on two cores, in two warm worktrees.
fn floor(setting: &BenchSetting) -> f64 {
    let rig = RunRig::new(setting, FILES);
    let trees: Vec<PathBuf> = (0..2).map(|number| rig.mark(&format!("tree-{number}"))).collect();
    for tree in &trees {
        rig.git(&["worktree", "add", "-q", "--detach", tree.to_str().expect("a plain path")]);
    }
    let base =
        Command::new("git").args(["rev-parse", "HEAD"]).current_dir(rig.repo.path()).output().expect("git");
    let base = String::from_utf8(base.stdout).expect("a commit").trim().to_owned();
    let prompt = rig.mark("prompt.md");
    std::fs::write(&prompt, script("say nothing")).expect("a file");
    let next = AtomicUsize::new(0);
    millis(|| {
        thread::scope(|scope| {
            for tree in &trees {
                scope.spawn(|| {
                    while let number @ 0..TASKS = next.fetch_add(1, Ordering::Relaxed) {
                        one(&rig, tree, &steps(&base, &format!("bare-{number}")), &prompt);
                    }
                });
            }
        });
    })
}

/// The agent works after the workspace is there.
const BEFORE_AGENT: usize = 2;

fn one(rig: &RunRig, tree: &Path, steps: &[Vec<String>], prompt: &Path) {
    for (at, step) in steps.iter().enumerate() {
        if at == BEFORE_AGENT {
            let stdin = std::fs::File::open(prompt).expect("a file");
            let mut agent = rig.command(&["demo-agent"]);
            assert!(agent.current_dir(tree).stdin(stdin).status().expect("it starts").success());
        }
        // Some only ask, and say no by their status.
        let _ = Command::new("git").args(step).current_dir(tree).stdout(Stdio::null()).status().expect("git");
    }
}
