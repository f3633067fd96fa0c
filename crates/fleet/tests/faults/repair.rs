//! Whoever repairs can be killed as well, at any step, and the next one goes on.

use std::thread;

use super::processes::{is_alive, kill};
use super::stage::Stage;

/// Kills everything of a run, and then whoever repairs it at this point, with the runner that wanted it.
fn killed_at(point: &str) {
    let stage = Stage::new();
    let task = stage.add(&stage.steps());
    let mut runner = stage.run(None);
    stage.wait_for("written");
    let run = stage.live_run();
    let (keeper, agent) = (stage.keeper_pid(&run), stage.agent_pid(&run));
    runner.kill();
    kill(keeper);
    let mut second = stage.run(Some(point));
    let repairer = stage.wait_held(point);
    assert!(!is_alive(agent), "the agent is ended first of all");
    second.kill();
    kill(repairer);
    stage.give("go");
    stage.assert_well(&task, stage.run(None));
    stage.assert_in_snapshots();
    let shown = stage.task(&task);
    // The runner does not wait for a repair: one that had told the store left time for another claim.
    assert!(matches!(shown["attempts"].as_i64(), Some(2 | 3)), "{shown:#}");
    assert_eq!(shown["failures"], 1, "{shown:#}");
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

/// People see what is wrong with a run that is not at work any more, and what a kill waits for.
#[test]
fn a_repair_that_hangs_is_told() {
    let stage = Stage::new();
    let task = stage.add(&stage.steps());
    let _runner = stage.run(Some("repair-stopped"));
    stage.wait_for("written");
    kill(stage.keeper_pid(&stage.live_run()));
    let repairer = stage.wait_held("repair-stopped");
    let told = "its keeper is gone; being repaired";
    for arguments in [&["list", "--json"][..], &["show", &task], &["why", &task]] {
        let said = stage.fleet.ok(arguments);
        assert!(said.contains(told), "{arguments:?}: {said}");
    }
    let doctor = stage.fleet.run(&["doctor"]);
    assert!(doctor.stdout.contains("without a keeper, and being repaired"), "{}", doctor.stdout);
    let killed = stage.fleet.run(&["kill", &task, "--yes", "--wait", "2s"]);
    assert_ne!(killed.code, 0, "{}", killed.stdout);
    assert!(killed.stderr.contains("waiting for") && killed.stderr.contains(told), "{}", killed.stderr);
    assert!(killed.stderr.contains(&format!("is still running: {told}")), "{}", killed.stderr);
    kill(repairer);
}

/// A repair that does not come to its end keeps nobody else waiting, neither this runner nor the next.
#[test]
fn a_repair_that_hangs_stops_nobody_else() {
    let stage = Stage::new();
    let task = stage.add(&stage.steps());
    let mut runner = stage.run_with(Some("repair-stopped"), &["--slots", "1"]);
    stage.wait_for("written");
    kill(stage.keeper_pid(&stage.live_run()));
    let repairer = stage.wait_held("repair-stopped");
    let other = stage.add("say Done.\nwrite other.txt x");
    stage.wait_status(&other, "done");
    runner.kill();
    let next = stage.run_with(None, &["--slots", "1"]);
    let third = stage.add("say Done.\nwrite third.txt x");
    stage.wait_status(&third, "done");
    assert_eq!(stage.status(&task), "running");
    kill(repairer);
    stage.give("go");
    stage.assert_well(&task, next);
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
