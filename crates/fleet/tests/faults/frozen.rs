//! A keeper that stands still for longer than its lease.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};

use fleet_testkit::fleet::Fleet;
use fleet_testkit::postgres::{self, Binaries};
use fleet_testkit::wait_until;
use rustix::process::Signal;

use super::processes::{is_alive, of_home, send};
use super::stage::{BOUND, Running, Stage};

#[test]
fn a_frozen_keeper_is_replaced() {
    let stage = Stage::new();
    let task = stage.add(&stage.steps());
    let runner = stage.run(None);
    stage.wait_for("written");
    wait_stored(&stage);
    let run = stage.live_run();
    let (keeper, agent) = (stage.keeper_pid(&run), stage.agent_pid(&run));
    send(keeper, Signal::STOP);
    wait_until(BOUND, "both are killed", || !is_alive(keeper) && !is_alive(agent));
    stage.give("go");
    stage.assert_well(&task, runner);
    let shown = stage.task(&task);
    assert_eq!((&shown["attempts"], &shown["failures"]), (&2.into(), &1.into()), "{shown:#}");
    stage.assert_in_snapshots();
}

/// Somebody who has begun to change all runs, and does not come to the end.
fn lock_runs(url: &str) -> Child {
    let mut command = Command::new(Binaries::find().unwrap().program("psql"));
    command.args(["--no-psqlrc", "--quiet", "--tuples-only", url]);
    let mut psql = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let change = b"BEGIN; SELECT id FROM runs FOR UPDATE;\n";
    psql.stdin.as_mut().unwrap().write_all(change).unwrap();
    let mut line = String::new();
    BufReader::new(psql.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert!(line.trim().starts_with('r'), "{line}");
    psql
}

/// A keeper that is frozen in the middle of a transaction locks its run, and whoever asks for that waits.
#[test]
fn heavy_a_frozen_keeper_whose_run_is_locked_is_replaced() {
    let (database, mut stage) = (postgres::database(), Stage::new());
    stage.fleet = stage.fleet.env("FLEET_STORE", database.url());
    let task = stage.add(&stage.steps());
    let runner = stage.run(None);
    stage.wait_for("written");
    wait_stored(&stage);
    let keeper = stage.keeper_pid(&stage.live_run());
    send(keeper, Signal::STOP);
    let mut psql = lock_runs(database.url());
    wait_until(BOUND, "the keeper is killed", || !is_alive(keeper));
    psql.kill().unwrap();
    psql.wait().unwrap();
    stage.give("go");
    stage.assert_well(&task, runner);
}

/// A keeper that is frozen while it writes to the store keeps everybody from it.
fn wait_stored(stage: &Stage) {
    let is_stored = || stage.events().iter().any(|event| event["kind"] == "run.used_tool");
    wait_until(BOUND, "what the agent did is stored", is_stored);
}

/// A stage whose store others can use, with an agent at work that is not tried again.
fn shared() -> (Stage, Elsewhere, String) {
    let mut stage = Stage::new();
    let store = format!("sqlite:{}", stage.fleet.user_home().join("shared.db").display());
    stage.fleet = stage.fleet.env("FLEET_STORE", &store);
    let task = stage.add_with(&stage.steps(), 0);
    let mut runner = stage.run(None);
    stage.wait_for("written");
    wait_stored(&stage);
    runner.kill();
    let other = Fleet::new(env!("CARGO_BIN_EXE_fleet")).env("FLEET_STORE", &store);
    (stage, Elsewhere(other.env("FLEET_RUNNER_LEASE_SECONDS", "2")), task)
}

/// Another home on the same store, which cannot see the processes of the first.
struct Elsewhere(Fleet);

impl Elsewhere {
    fn run(&self) -> Running {
        let mut command = self.0.command(&["run"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Running::new(command.spawn().unwrap())
    }
}

/// A run that another home has given up, without its processes, which that home cannot see.
struct GivenUp {
    stage: Stage,
    keeper: i32,
    agent: i32,
}

/// Sends the keeper a signal, after which it does not renew its lease.
fn given_up_elsewhere(signal: Signal) -> GivenUp {
    let (stage, elsewhere, task) = shared();
    let run = stage.live_run();
    let (keeper, agent) = (stage.keeper_pid(&run), stage.agent_pid(&run));
    send(keeper, signal);
    let other = elsewhere.run();
    stage.wait_status(&task, "failed");
    drop(other);
    GivenUp { stage, keeper, agent }
}

/// Its run was given up by a home that could not see it. It must find out by itself, end its agent, keep the work and
/// leave the store alone.
#[test]
fn a_keeper_that_comes_back_after_its_run_was_given_up_elsewhere() {
    let GivenUp { stage, keeper, agent } = given_up_elsewhere(Signal::STOP);
    assert!(is_alive(agent), "nobody there could see it");
    let before = stage.events();
    send(keeper, Signal::CONT);
    wait_until(BOUND, "they have ended", || of_home(stage.home()).is_empty());
    assert!(!is_alive(agent));
    assert_eq!(stage.events(), before);
    assert_eq!((stage.live(), stage.claims()), (vec![], vec![]));
    stage.assert_in_snapshots();
    stage.assert_untouched();
}

/// The same for one that does not come back: the next runner of its home ends it, and leaves the store alone as well.
#[test]
fn a_frozen_keeper_whose_run_was_given_up_elsewhere_is_replaced() {
    let GivenUp { stage, keeper, agent } = given_up_elsewhere(Signal::STOP);
    let before = stage.events();
    let runner = stage.run(None);
    wait_until(BOUND, "both are killed", || !is_alive(keeper) && !is_alive(agent));
    stage.assert_tidy([runner]);
    assert_eq!(stage.events(), before);
    stage.assert_in_snapshots();
}

/// The same for one that is dead: the next runner of its home tidies up, and leaves the store alone as well.
#[test]
fn a_run_that_was_given_up_elsewhere_is_tidied_up_here() {
    let GivenUp { stage, agent, .. } = given_up_elsewhere(Signal::KILL);
    let before = stage.events();
    stage.assert_tidy([stage.run(None)]);
    assert!(!is_alive(agent));
    assert_eq!(stage.events(), before);
    stage.assert_in_snapshots();
}
