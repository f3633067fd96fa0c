//! Everything may die: the session goes on, or the work is kept.

use fleet_testkit::wait_until;

use super::stage::{BOUND, DETACH, Stage};

#[test]
fn the_death_of_runner_and_client_harms_nothing() {
    let mut stage = Stage::new();
    stage.open("one");
    let person = stage.attach(&["one"], 80, 24);
    person.types("first\r");
    person.sees("Done.");
    stage.kill_runner();
    person.types("second\r");
    person.sees("demo> second");
    stage.wait_for_state("one", "idle");
    let before = stage.logs("one");
    person.is_killed();
    let again = stage.attach(&["one"], 80, 24);
    again.sees("demo> second");
    stage.start_runner();
    again.types("third\r");
    again.sees("demo> third");
    again.types(DETACH);
    assert_eq!(again.leaves(), 0);
    assert!(before.contains("demo> second"), "{before}");
    assert_eq!(stage.run_of("one")["attempt"], 1, "it is the same run");
}

#[test]
fn without_its_keeper_the_agent_ends_and_the_conversation_can_be_resumed() {
    let stage = Stage::new();
    stage.fleet.ok(&["create", "one", "--interactive", "-p", "begin"]);
    stage.wait_for_log("one", "Done.");
    stage.wait_for_state("one", "idle");
    let first = stage.run_of("one");
    let person = stage.attach(&["one"], 80, 24);
    person.sees("demo>");
    Stage::kill(stage.keeper_of("one"));
    person.sees("the keeper of the agent is gone");
    assert_ne!(person.leaves(), 0);
    stage.wait_for_status("one", "failed");
    wait_until(BOUND, "the agent is gone", || stage.agents().is_empty());
    assert!(stage.repo.git(&["ls-tree", "-r", "--name-only", "one"]).contains("notes/"), "the work is kept");
    stage.fleet.ok(&["resume", "one"]);
    wait_until(BOUND, "the next run is idle", || {
        let run = stage.run_of("one");
        run["attempt"] == 2 && run["session"].is_string() && stage.state_of("one").as_deref() == Some("idle")
    });
    let second = stage.run_of("one");
    assert_eq!(second["session"], first["session"], "the same conversation");
    assert!(!stage.logs("one").contains("demo> begin"), "nothing is said twice: {}", stage.logs("one"));
}

#[test]
fn a_killed_agent_leaves_nothing_behind() {
    let stage = Stage::new();
    stage.open("one");
    let run = stage.run_of("one")["id"].as_str().unwrap().to_owned();
    let person = stage.attach(&["one"], 80, 24);
    person.sees("demo>");
    stage.fleet.ok(&["kill", "one", "--yes"]);
    person.leaves();
    stage.wait_for_status("one", "cancelled");
    wait_until(BOUND, "no agent is left", || stage.agents().is_empty());
    let folder = stage.fleet.home().join("runs").join(run);
    wait_until(BOUND, "no socket is left", || {
        !folder.join("terminal").exists() && !folder.join("door").exists()
    });
}
