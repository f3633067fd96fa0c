//! Numbers of processes that are somebody else's by now, and a machine that was started again.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command};
use std::thread;

use serde_json::{Value, json};

use super::processes::{is_alive, kill};
use super::stage::{Running, Stage};

/// A run whose runner and keeper were killed, with its agent alive or not.
struct Wreck {
    stage: Stage,
    task: String,
    run: String,
    agent: i32,
}

impl Wreck {
    fn new(is_agent_alive: bool) -> Self {
        let stage = Stage::new();
        let task = stage.add(&stage.steps());
        let mut runner = stage.run(None);
        stage.wait_for("written");
        let run = stage.live_run();
        let (keeper, agent) = (stage.keeper_pid(&run), stage.agent_pid(&run));
        runner.kill();
        kill(keeper);
        if !is_agent_alive {
            kill(agent);
        }
        Self { stage, task, run, agent }
    }

    /// Rewrites every identity that is written down in files.
    fn rewrite(&self, change: impl Fn(&mut Value)) {
        let stage = &self.stage;
        rewrite(&stage.home().join("live").join(&self.run), |said| change(said));
        rewrite(&stage.run_folder(&self.run).join("tree.json"), |said| {
            change(&mut said["root"]);
            change(&mut said["keeper"]);
        });
    }

    fn assert_well(self) -> (Stage, String) {
        let runner: Running = self.stage.run(None);
        self.stage.give("go");
        self.stage.assert_well(&self.task, runner);
        self.stage.assert_in_snapshots();
        assert!(!is_alive(self.agent));
        (self.stage, self.task)
    }
}

fn rewrite(file: &Path, change: impl Fn(&mut Value)) {
    let mut said = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    change(&mut said);
    fs::write(file, said.to_string()).unwrap();
}

/// A process that has nothing to do with any run, and leads a group, as keepers do.
struct Innocent(Child);

impl Innocent {
    fn new() -> Self {
        Self(Command::new("sleep").arg("600").process_group(0).spawn().unwrap())
    }

    fn pid(&self) -> i32 {
        i32::try_from(self.0.id()).unwrap()
    }
}

impl Drop for Innocent {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_number_that_was_given_again_is_not_mistaken() {
    thread::scope(|scope| {
        for is_agent_alive in [false, true] {
            scope.spawn(move || {
                let (wreck, innocent) = (Wreck::new(is_agent_alive), Innocent::new());
                // The number is right, when it was started is not.
                wreck.rewrite(|identity| identity["pid"] = json!(innocent.pid()));
                wreck.assert_well();
                assert!(is_alive(innocent.pid()));
            });
        }
    });
}

#[test]
fn a_number_of_an_earlier_boot_is_not_mistaken() {
    let (wreck, innocent) = (Wreck::new(true), Innocent::new());
    // All is right but the boot.
    let start = fs::read_to_string(format!("/proc/{}/stat", innocent.pid())).unwrap();
    let start: u64 = start.rsplit_once(')').unwrap().1.split_whitespace().nth(19).unwrap().parse().unwrap();
    wreck.rewrite(|identity| {
        identity["pid"] = json!(innocent.pid());
        identity["start"] = json!(start);
        identity["boot"] = json!("another");
    });
    wreck.assert_well();
    assert!(is_alive(innocent.pid()));
}

#[test]
fn a_restart_of_the_machine_is_not_the_fault_of_a_task() {
    let wreck = Wreck::new(false);
    wreck.rewrite(|identity| identity["boot"] = json!("another"));
    let store = rusqlite::Connection::open(wreck.stage.home().join("fleet.db")).unwrap();
    let keeper: String =
        store.query_row("SELECT keeper FROM runs WHERE id = ?1", [&wreck.run], |row| row.get(0)).unwrap();
    let mut said: Value = serde_json::from_str(&keeper).unwrap();
    said["boot"] = json!("another");
    let changed = store.execute("UPDATE runs SET keeper = ?2 WHERE id = ?1", [&wreck.run, &said.to_string()]);
    assert_eq!(changed, Ok(1));
    drop(store);
    let (stage, task) = wreck.assert_well();
    let shown = stage.task(&task);
    assert_eq!((&shown["attempts"], &shown["failures"]), (&2.into(), &0.into()), "{shown:#}");
}
