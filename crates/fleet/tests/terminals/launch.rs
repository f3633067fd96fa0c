//! Starting agents in terminals.

use fleet_testkit::person::Person;

use fleet_testkit::wait_until;

use super::stage::{BOUND, DETACH, Stage};

#[test]
fn an_agent_gets_its_prompt_in_its_terminal() {
    let stage = Stage::new();
    let told = stage.fleet.run(&["create", "one", "--interactive", "-p", "fix the tests"]);
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stderr.contains("`fleet attach one` opens its terminal"), "{told:?}");
    stage.wait_for_log("one", "Done.");
    assert!(stage.logs("one").contains("demo> fix the tests"), "{}", stage.logs("one"));
    stage.wait_for_state("one", "idle");
    assert_eq!(stage.run_of("one")["state"], "running", "it waits for the next prompt");
    stage.fleet.ok(&["prompt", "one", "/exit"]);
    stage.wait_for_status("one", "done");
    assert!(stage.repo.git(&["ls-tree", "-r", "--name-only", "one"]).contains("notes/"));
    assert!(stage.agents().is_empty());
    assert!(stage.logs("one").contains("demo> /exit"), "what it showed last is kept");
}

#[test]
fn create_without_a_prompt_opens_the_agent_for_a_person() {
    let stage = Stage::new();
    let person = Person::run(stage.fleet.command(&["create", "mine", "--attach"]), 80, 24);
    person.sees("demo>");
    person.sees("Ctrl-] detaches");
    person.types("write it down\r");
    person.sees("Done.");
    person.types("/exit\r");
    assert_eq!(person.leaves(), 0);
    stage.wait_for_status("mine", "done");
}

#[test]
fn one_that_a_person_closes_without_a_change_is_done() {
    let stage = Stage::new();
    stage.open("look");
    stage.fleet.ok(&["prompt", "look", "/exit"]);
    stage.wait_for_status("look", "done");
}

#[test]
fn terminals_need_no_slot() {
    let stage = Stage::new();
    for branch in ["a", "b", "c"] {
        stage.open(branch);
    }
    stage.fleet.ok(&["create", "work", "-p", "do something", "--headless"]);
    stage.wait_for_status("work", "done");
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_made() {
    let stage = Stage::configured("[agents.plain]\nprogram = \"cat\"\n");
    let refused = stage.fleet.fail(2, &["create", "x", "--interactive", "--agent", "plain"]);
    assert!(refused.stderr.contains("has no interface in a terminal"), "{refused:?}");
    let refused = stage.fleet.fail(2, &["create", "x"]);
    assert!(refused.stderr.contains("there is no prompt"), "{refused:?}");
    let refused = stage.fleet.fail(2, &["create", "x", "--attach", "--headless", "-p", "y"]);
    assert!(refused.stderr.contains("cannot be used with"), "{refused:?}");
    assert_eq!(stage.fleet.json(&["task", "list"])["tasks"].as_array().unwrap().len(), 0);
}

#[test]
fn a_custom_program_runs_in_a_terminal() {
    let stage = Stage::configured("[agents.shell]\nprogram = \"sh\"\nargs = []\nterminal_args = [\"-i\"]\n");
    stage.fleet.ok(&["create", "sh", "--interactive", "--agent", "shell"]);
    let person = stage.attach(&["sh"], 80, 24);
    person.types("echo $((6 * 7)) > answer; stty size; tty\r");
    person.sees("24 80");
    person.sees("/dev/");
    person.types(DETACH);
    assert_eq!(person.leaves(), 0);
    stage.fleet.ok(&["prompt", "sh", "exit"]);
    stage.wait_for_status("sh", "done");
    assert_eq!(stage.repo.git(&["show", "sh:answer"]), "42");
}

/// As for an agent without a terminal, the title is what it is told.
#[test]
fn the_title_of_a_task_is_typed() {
    let stage = Stage::new();
    stage.fleet.ok(&["task", "add", "Tidy the shelves", "--interactive", "--branch", "shelves"]);
    stage.wait_for_log("shelves", "demo> Tidy the shelves");
    let described = ["task", "add", "Two things", "-d", "one and two", "--interactive", "--branch", "things"];
    stage.fleet.ok(&described);
    let prompted = || {
        let shown = stage.fleet.json(&["task", "show", "things", "--events", "1000"]);
        let events = shown["events"].as_array().unwrap().clone();
        events.iter().any(|event| event["data"]["text"] == "Two things\n\none and two")
    };
    wait_until(BOUND, "title and description are typed", prompted);
    assert!(stage.fleet.ok(&["headless", "shelves"]).contains("continues"), "it has a prompt");
}

#[test]
fn a_limit_that_was_set_for_it_ends_an_idle_agent() {
    let stage = Stage::configured("[limits]\nidle = \"1s\"\ntime = \"1s\"\n");
    stage.fleet.ok(&["create", "patient", "--interactive"]);
    stage.fleet.ok(&["create", "idle", "--interactive", "--limit", "idle=2s"]);
    stage.wait_for_status("idle", "failed");
    assert_eq!(stage.fleet.json(&["task", "show", "idle"])["reason"], "stale");
    stage.wait_for_state("patient", "idle");
    assert_eq!(stage.fleet.json(&["task", "show", "patient"])["status"], "running", "others have none");
}
