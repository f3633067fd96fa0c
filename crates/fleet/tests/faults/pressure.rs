//! Killed after an agent was stopped because its conversation was full.

use std::thread;

use super::matrix::{NO_AGENT, Victims};
use super::processes::kill;
use super::stage::{Stage, branch_of};

/// Kills them there; the task goes on and loses nothing.
fn cell(point: &str, victims: Victims) {
    let stage = Stage::new();
    stage.fleet.ok(&["config", "set", "agents.demo.context_limit", "1000"]);
    let sign = |name: &str| stage.sign(name).display().to_string();
    let steps = format!(
        "write a.txt x\nonce \"{}\" usage 950 1 0\nonce \"{}\" hang\nwrite b.txt x",
        sign("used"),
        sign("hung")
    );
    let task = stage.add(&steps);
    let mut runner = stage.run(Some(point));
    let held = stage.wait_held(point);
    if victims.runner {
        runner.kill();
    }
    if victims.keeper {
        kill(held);
    }
    let runner = if victims.runner { stage.next_runner() } else { runner };
    stage.let_go(point);
    stage.wait_status(&task, "done");
    let shown = stage.task(&task);
    assert_eq!(shown["attempts"], 2, "{shown:#}");
    let restarts = shown["context_restarts"].as_i64().unwrap();
    // Whoever ends the run in place of a keeper knows why it stopped its agent only if that was written down.
    let is_known = !victims.keeper || point != "keeper-attended";
    assert!(if is_known { restarts == 1 } else { restarts <= 1 }, "{shown:#}");
    for file in ["a.txt", "b.txt"] {
        assert_eq!(stage.content(&branch_of(&task), file).as_deref(), Some("x"), "{file}");
    }
    stage.assert_tidy([runner]);
}

/// All of them side by side: they mostly wait.
fn cells(point: &str) {
    thread::scope(|scope| {
        for victims in NO_AGENT {
            let name = format!("{point} {victims:?}");
            thread::Builder::new().name(name).spawn_scoped(scope, || cell(point, *victims)).unwrap();
        }
    });
}

#[test]
fn killed_when_an_agent_with_a_full_conversation_was_stopped() {
    cells("keeper-attended");
}

#[test]
fn killed_when_the_end_of_a_full_conversation_is_written_down() {
    cells("keeper-noted");
}
