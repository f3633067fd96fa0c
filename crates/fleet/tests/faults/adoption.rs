//! Runners come and go; agents go on.

use std::fs;

use fleet_testkit::wait_until;

use super::processes::{is_alive, kill};
use super::stage::{BOUND, Stage, names};

#[test]
fn the_next_runner_adopts_what_it_finds() {
    let stage = Stage::new();
    let task = stage.add(&stage.steps());
    let mut runner = stage.run(None);
    stage.wait_for("written");
    let run = stage.live_run();
    let (keeper, agent) = (stage.keeper_pid(&run), stage.agent_pid(&run));
    for _ in 0..3 {
        runner.kill();
        runner = stage.next_runner();
        assert!(is_alive(keeper) && is_alive(agent), "they have nothing to do with the runner");
    }
    assert_eq!((stage.keeper_pid(&run), stage.agent_pid(&run)), (keeper, agent));
    stage.give("go");
    stage.assert_well(&task, runner);
    assert_eq!(stage.task(&task)["attempts"], 1);
    assert_eq!(names(&stage.home().join("runs")), [run]);
}

#[test]
fn two_runners_run_each_task_once() {
    let stage = Stage::new();
    let tasks: Vec<String> = (0..20)
        .map(|number| {
            let ran = stage.sign(&format!("ran-{number}"));
            stage.add(&format!("append {} here\nwrite {number}.txt done", ran.display()))
        })
        .collect();
    let runners = [stage.run_with(None, &["--slots", "3"]), stage.run_with(None, &["--slots", "3"])];
    wait_until(BOUND * 2, "all are done", || tasks.iter().all(|task| stage.status(task) == "done"));
    stage.assert_tidy(runners);
    for (number, task) in tasks.iter().enumerate() {
        stage.assert_once(task);
        assert_eq!(fs::read_to_string(stage.sign(&format!("ran-{number}"))).unwrap(), "here\n");
        assert_eq!(stage.task(task)["attempts"], 1);
    }
}

#[test]
fn stopped_agents_go_back_to_the_queue_without_a_fault() {
    let stage = Stage::new();
    let task = stage.add(&stage.steps());
    let mut runner = stage.run(None);
    stage.wait_for("written");
    let stopped = stage.fleet.json(&["stop", "--agents"]);
    assert_eq!((&stopped["released"], &stopped["going_on"]), (&1.into(), &0.into()));
    runner.wait();
    let shown = stage.task(&task);
    assert_eq!((&shown["state"], &shown["failures"]), (&"queued".into(), &0.into()), "{shown:#}");
    stage.assert_in_snapshots();
    stage.give("go");
    stage.assert_well(&task, stage.run(None));
    assert_eq!(stage.task(&task)["failures"], 0);
}

/// Nobody is left who could answer: whoever stops everything does it in their place.
#[test]
fn agents_without_keepers_are_stopped_as_well() {
    let stage = Stage::new();
    let task = stage.add(&stage.steps());
    let mut runner = stage.run(None);
    stage.wait_for("written");
    let run = stage.live_run();
    let agent = stage.agent_pid(&run);
    runner.kill();
    kill(stage.keeper_pid(&run));
    let stopped = stage.fleet.json(&["stop", "--agents"]);
    assert_eq!((&stopped["released"], &stopped["going_on"]), (&1.into(), &0.into()));
    assert!(!is_alive(agent));
    let shown = stage.task(&task);
    assert_eq!((&shown["state"], &shown["failures"]), (&"queued".into(), &0.into()), "{shown:#}");
    stage.give("go");
    stage.assert_well(&task, stage.run(None));
    stage.assert_in_snapshots();
}
