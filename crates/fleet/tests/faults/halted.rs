//! `fleet kill` answers when the agent is gone and its work is safe, whatever its keeper has still to do.

use fleet_testkit::wait_until;

use super::processes::{is_alive, kill};
use super::stage::{BOUND, Stage};

/// A run that was killed, whose keeper is held while it tidies up; the keeper and the run.
fn halted(stage: &Stage, task: &str) -> (i32, String) {
    stage.wait_for("written");
    let run = stage.live_run();
    let is_noted = || stage.agent_pid(&run) != stage.keeper_pid(&run);
    wait_until(BOUND, "the keeper has written down who its agent is", is_noted);
    let agent = stage.agent_pid(&run);
    let killed = stage.fleet.json(&["kill", task, "--yes"]);
    let one = &killed["killed"][0];
    assert_eq!((&one["outcome"], &one["tidying"]), (&"stopped".into(), &true.into()), "{killed:#}");
    assert!(!is_alive(agent), "it says that it was stopped");
    stage.assert_in_snapshots();
    (stage.wait_held("keeper-committed"), run)
}

#[test]
fn a_keeper_that_tidies_up_is_not_waited_for() {
    let stage = Stage::new();
    let task = stage.add(&stage.steps());
    let runner = stage.run(Some("keeper-committed"));
    halted(&stage, &task);
    assert_eq!(stage.task(&task)["state"], "running", "nobody claims that it is over");
    stage.let_go("keeper-committed");
    stage.wait_status(&task, "cancelled");
    stage.assert_tidy([runner]);
}

#[test]
fn a_keeper_that_is_killed_while_it_tidies_up_changes_nothing() {
    let stage = Stage::new();
    let task = stage.add(&stage.steps());
    let runner = stage.run(Some("keeper-committed"));
    let (keeper, run) = halted(&stage, &task);
    kill(keeper);
    wait_until(BOUND, "somebody tidies up in its place", || !stage.live().contains(&run));
    stage.wait_status(&task, "cancelled");
    stage.assert_tidy([runner]);
}
