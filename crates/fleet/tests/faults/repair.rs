//! Whoever repairs can be killed as well, at any step, and the next one goes on.

use std::thread;

use super::processes::{is_alive, kill};
use super::stage::Stage;

/// Kills everything of a run, and then the runner that repairs it at this point.
fn killed_at(point: &str) {
    let stage = Stage::new();
    let task = stage.add(&stage.steps());
    let mut runner = stage.run(None);
    stage.wait_for("written");
    let run = stage.live_run();
    let (keeper, agent) = (stage.keeper_pid(&run), stage.agent_pid(&run));
    runner.kill();
    kill(keeper);
    let mut repairer = stage.run(Some(point));
    assert_eq!(stage.wait_held(point), repairer.pid());
    assert!(!is_alive(agent), "the agent is ended first of all");
    repairer.kill();
    stage.give("go");
    stage.assert_well(&task, stage.run(None));
    stage.assert_in_snapshots();
    let shown = stage.task(&task);
    assert_eq!((&shown["attempts"], &shown["failures"]), (&2.into(), &1.into()), "{shown:#}");
}

#[test]
fn killed_while_it_repairs() {
    let points = ["repair-stopped", "repair-saved", "repair-noted", "repair-recorded", "repair-released"];
    thread::scope(|scope| {
        for point in points {
            scope.spawn(move || killed_at(point));
        }
    });
}

/// Several look at the same wreck at the same moment.
#[test]
fn many_repair_at_once() {
    let stage = Stage::new();
    let task = stage.add(&stage.steps());
    let mut runner = stage.run(None);
    stage.wait_for("written");
    let keeper = stage.keeper_pid(&stage.live_run());
    runner.kill();
    kill(keeper);
    stage.give("go");
    let runners: Vec<_> = (0..5).map(|_| stage.run(None)).collect();
    stage.wait_status(&task, "done");
    stage.assert_tidy(runners);
    stage.assert_once(&task);
    stage.assert_in_snapshots();
    assert_eq!(stage.task(&task)["attempts"], 2);
}
