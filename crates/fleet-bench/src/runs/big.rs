//! A repository of 50,000 files, and fifty agents: what people wait for.

use std::path::Path;

use fleet_host::git::{Area, KeepFiles, OpenRequest, StartAt, head_commit};

use super::rig::{RunRig, script, wait};
use crate::BenchSetting;
use crate::report::{Goal, ReportRow};
use crate::timing::{median, millis};

const FILES: usize = 50_000;
const ROUNDS: usize = 5;
const AGENTS: usize = 50;

pub(crate) fn run(setting: &BenchSetting) -> Vec<ReportRow> {
    let mut rig = RunRig::new(setting, FILES);
    let (warm, add) = workspace(&rig);
    rig.start("64");
    let kill = median((0..ROUNDS).map(|round| kill(&rig, round)).collect());
    drop(rig);
    let mut rig = RunRig::new(setting, 100);
    rig.start("64");
    let list = list(&rig);
    vec![
        ReportRow::new(
            "a warm workspace, 50,000 files",
            (warm, "ms"),
            (add, "ms `git worktree add`"),
            Goal::AtMost(0.05),
        ),
        ReportRow::new(
            "`fleet kill` of a run in it",
            (kill, "ms"),
            (300.0, "ms (fixed bound)"),
            Goal::AtMost(1.0),
        ),
        ReportRow::new(
            "`fleet list`, 50 agents",
            (list, "ms"),
            (60.0, "ms (fixed bound)"),
            Goal::AtMost(1.0),
        ),
    ]
}

/// The time of a workspace that is recycled, and of `git worktree add`.
fn workspace(rig: &RunRig) -> (f64, f64) {
    let common = rig.repo.path().canonicalize().expect("a path").join(".git");
    let base = head_commit(&common).expect("a commit");
    let area = Area {
        repo: common,
        vault: rig.mark("vault"),
        dir: rig.mark("area"),
        trash: rig.mark("trash"),
        pool: 4,
        keep: KeepFiles::Nothing,
    };
    let open = |round: usize| {
        OpenRequest::new(format!("run-{round}"), format!("warm-{round}"), StartAt::New(base.clone()))
    };
    area.open(&open(0)).expect("a workspace").release().expect("released");
    let mut warm = Vec::new();
    for round in 1..=ROUNDS {
        let mut opened = None;
        warm.push(millis(|| opened = Some(area.open(&open(round)).expect("a workspace"))));
        opened.expect("a workspace").release().expect("released");
    }
    let add = (0..3).map(|round| {
        let path = rig.mark(&format!("plain-{round}"));
        millis(|| rig.git(&["worktree", "add", "-q", "--detach", path.to_str().expect("a plain path")]))
    });
    (median(warm), median(add.collect()))
}

/// From the command to its answer, with an agent that is at work and has changed something.
fn kill(rig: &RunRig, round: usize) -> f64 {
    let branch = format!("kill-{round}");
    begin(rig, &branch, "write changed.txt changed");
    let took = millis(|| rig.fleet(&["kill", &branch, "--yes"]));
    rig.quiet();
    took
}

fn list(rig: &RunRig) -> f64 {
    for number in 0..AGENTS {
        begin(rig, &format!("agent-{number}"), "say at work");
    }
    median((0..21).map(|_| millis(|| rig.fleet(&["list"]))).collect())
}

/// An agent at work on this branch.
fn begin(rig: &RunRig, branch: &str, step: &str) {
    let mark = rig.mark(branch);
    let steps = script(&format!("{step}\ntouch {}\nhang", shown(&mark)));
    rig.fleet(&["task", "add", "work", "--agent", "demo", "--branch", branch, "-d", &steps]);
    wait("the agent works", || mark.exists());
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
