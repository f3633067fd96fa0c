//! Somebody does not want it any more.

use std::fs;
use std::path::Path;

use fleet_testkit::clis::Cli;
use fleet_testkit::model::SLEEP_COMMAND;
use fleet_testkit::wait_until;
use rustix::process::{Pid, test_kill_process};

use crate::stage::{BOUND, Stage};

/// An agent that waits for a command is stopped, and so is the command.
pub(crate) fn cancelled_in_a_command(cli: Cli) {
    let Some(stage) = Stage::new(&[(cli, "sleep")]) else { return };
    let (task, _runner) = (stage.add(cli.name(), "Write your number to TARGET=pid", 0), stage.runner(&[]));
    let number = || -> Option<Pid> {
        let run = stage.runs_of(&task).into_iter().next()?;
        let file = Path::new(run["workspace"].as_str()?).join("pid");
        Pid::from_raw(fs::read_to_string(file).ok()?.trim().parse().ok()?)
    };
    let mut pid = None;
    wait_until(BOUND, "the command has started", || {
        pid = number();
        pid.is_some()
    });
    let pid = pid.unwrap();
    // The shell writes the number as soon as it has forked, which is before the command is what it will be.
    wait_until(BOUND, "the command is at work", || is_at_work(&stage, pid));
    let killed = stage.fleet.json(&["kill", &task, "--yes"]);
    assert_eq!(killed["killed"][0]["outcome"], "stopped", "{killed}");
    assert!(!is_at_work(&stage, pid), "{:?}", stage.processes());
    // The keeper tidies up, and is the last to go.
    wait_until(BOUND, "the task is cancelled", || stage.status(&task) == "cancelled");
    assert_eq!(stage.run_of(&task)["state"], "cancelled");
    wait_until(BOUND, "everybody is gone", || stage.processes().is_empty());
}

/// Whether the command that never ends is there. In a sandbox it has another number than outside, so where processes
/// show their environment it is found by that.
fn is_at_work(stage: &Stage, pid: Pid) -> bool {
    if cfg!(target_os = "linux") {
        stage.processes().iter().any(|command| command.trim_end() == SLEEP_COMMAND)
    } else {
        test_kill_process(pid).is_ok()
    }
}
