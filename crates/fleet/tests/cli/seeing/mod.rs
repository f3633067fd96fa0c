//! Looking at runs: `fleet list`, `show`, `logs`, `diff`, `review` and `conflicts`, with real runs of the demo agent.

mod compare;
mod conflicts;
mod diff;
mod list;
mod logs;
mod names;
mod review;
mod show;

use std::fs;
use std::process::{Child, Stdio};
use std::time::Duration;

use fleet_testkit::wait_until;
use serde_json::Value;

use super::support::World;

/// A slow machine gets this long.
const BOUND: Duration = Duration::from_mins(1);

/// A world in which no runner starts by itself.
fn world() -> World {
    let mut world = World::sqlite();
    world.fleet = world.fleet.env("FLEET_AUTOSTART", "false");
    world
}

/// Adds a task for the demo agent and returns its id.
#[track_caller]
fn add(world: &World, branch: &str, script: &str, more: &[&str]) -> String {
    let text = format!("Do it.\n\n```demo\n{script}\n```\n");
    let title = format!("The task of {branch}");
    let own = ["task", "add", "-q", &title, "--agent", "demo", "--branch", branch, "-d", &text];
    world.fleet.ok(&[&own[..], more].concat()).trim_end().to_owned()
}

/// Runs everything that is ready to its end.
#[track_caller]
fn run_all(world: &World) {
    world.fleet.ok(&["run", "--until-idle"]);
}

/// A runner beside the test, and an agent that waits for a sign before it goes on.
struct Live {
    runner: Child,
    sign: std::path::PathBuf,
}

impl Live {
    /// Starts an agent that does this, and waits; returns when it has done it.
    #[track_caller]
    fn start(world: &World, branch: &str, script: &str) -> Self {
        let file = |name: &str| world.fleet.user_home().join(format!("{branch}.{name}"));
        let (ready, sign) = (file("ready"), file("sign"));
        let script = format!(
            "{script}\ntouch \"{}\"\nwait-for \"{}\"\nsay The sign came",
            ready.display(),
            sign.display()
        );
        add(world, branch, &script, &[]);
        let mut command = world.fleet.command(&["run", "--until-idle"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let runner = command.spawn().expect("a runner can be started");
        let live = Self { runner, sign };
        // The store learns of it a moment after the agent has begun.
        let is_running = || {
            let list = world.fleet.json(&["list"]);
            let mut runs = list["runs"].as_array().expect("a list of runs").iter();
            runs.any(|run| run["branch"] == branch && run["state"] == "running")
        };
        wait_until(BOUND, "the agent is at work", || ready.exists() && is_running());
        live
    }

    fn give_sign(&self) {
        fs::write(&self.sign, "").expect("a sign can be given");
    }

    /// Lets the agent go on, and waits until everything has ended.
    #[track_caller]
    fn end(mut self) {
        self.give_sign();
        let status = self.runner.wait().expect("the runner can be waited for");
        assert!(status.success(), "{status}");
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.give_sign();
        let _ = self.runner.wait();
    }
}

/// The one run that is listed.
#[track_caller]
fn only_run(list: &Value) -> &Value {
    let runs = list["runs"].as_array().expect("a list of runs");
    assert_eq!(runs.len(), 1, "{list}");
    &runs[0]
}

/// Whether nothing in a text could drive a terminal.
#[track_caller]
fn is_harmless(text: &str) {
    let bad = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t'));
    assert_eq!(bad, None, "a control character reached the terminal");
}
