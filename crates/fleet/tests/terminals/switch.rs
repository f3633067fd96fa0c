//! From headless to a terminal and back.

use fleet_testkit::person::Person;
use fleet_testkit::wait_until;

use super::stage::{BOUND, DETACH, Stage};

#[test]
fn a_headless_agent_is_taken_over_and_given_back() {
    let stage = Stage::new();
    let script = "```demo\nwrite one.txt 1\nsay I am here\nwait-for go 60s\n```";
    stage.fleet.ok(&["create", "h", "--headless", "--detach", "-p", script]);
    stage.wait_for_log("h", "I am here");
    wait_until(BOUND, "its conversation is known", || stage.run_of("h")["session"].is_string());
    let session = stage.run_of("h")["session"].clone();
    let person = Person::run(stage.fleet.command(&["attach", "h", "--takeover"]), 80, 24);
    person.sees("demo>");
    person.sees(session.as_str().unwrap());
    person.types("go on here\r");
    person.sees("Done.");
    person.types(DETACH);
    assert_eq!(person.leaves(), 0);
    let run = stage.run_of("h");
    assert_eq!((&run["attempt"], &run["session"]), (&2.into(), &session));
    let told = stage.fleet.ok(&["headless", "h"]);
    assert!(told.contains("continues without a terminal"), "{told}");
    wait_until(BOUND, "the third run", || {
        let run = stage.run_of("h");
        run["attempt"] == 3 && run["session"].is_string()
    });
    assert_eq!(stage.run_of("h")["session"], session);
    assert!(stage.fleet.ok(&["headless", "h"]).contains("already runs without a terminal"));
    // Every run of the task can be read, and only those in a terminal have a recording.
    let text = |args: &[&str]| stage.fleet.ok(args);
    assert!(text(&["logs", "h", "--attempt", "2"]).contains("demo> go on here"));
    assert!(text(&["logs", run["id"].as_str().unwrap()]).contains("demo> go on here"), "a run is that run");
    assert!(text(&["logs", "h", "--attempt", "1"]).contains("I am here"));
    let recorded = text(&["replay", "h", "--attempt", "2", "--path"]);
    assert_eq!(recorded, text(&["replay", run["id"].as_str().unwrap(), "--path"]));
    assert!(std::fs::read_to_string(recorded.trim_end()).unwrap().contains("go on here"));
    let refused = stage.fleet.fail(4, &["replay", "h", "--path"]);
    assert!(refused.stderr.contains("its agent had no terminal"), "{refused:?}");
    assert!(stage.repo.git(&["ls-tree", "-r", "--name-only", "h"]).contains("one.txt"));
}

/// A person who changes their mind while the agent is being stopped for the first wish.
#[test]
fn headless_and_back_at_once_ends_in_a_terminal() {
    let stage = Stage::new();
    for number in 0..3 {
        let branch = format!("b{number}");
        stage.fleet.ok(&["create", &branch, "--interactive", "-p", "begin"]);
        stage.wait_for_log(&branch, "Done.");
        let session = stage.run_of(&branch)["session"].clone();
        stage.fleet.ok(&["headless", &branch]);
        let person = Person::run(stage.fleet.command(&["attach", &branch, "--takeover"]), 80, 24);
        person.sees(session.as_str().unwrap());
        person.sees("demo>");
        wait_until(BOUND, "the same conversation in a terminal", || {
            let run = stage.run_of(&branch);
            run["mode"] == "interactive" && run["session"] == session
        });
        person.types(DETACH);
        assert_eq!(person.leaves(), 0);
        stage.fleet.ok(&["kill", &branch, "--yes"]);
    }
}

#[test]
fn whoever_looks_reads_what_happened() {
    let stage = Stage::new();
    stage.fleet.ok(&["create", "one", "--interactive", "-p", "begin"]);
    stage.wait_for_log("one", "Done.");
    let person = stage.attach(&["one"], 80, 24);
    person.sees("demo>");
    stage.fleet.ok(&["headless", "one"]);
    person.sees("the agent continues headless: `fleet attach one` follows it");
    assert_eq!(person.leaves(), 0);
    stage.open("two");
    for (command, words) in [
        (&["kill", "two", "--yes"][..], "the agent ended: stopped by `fleet kill`"),
        (&["prompt", "three", "/exit"], "the agent has ended"),
    ] {
        if command[1] == "three" {
            stage.open("three");
        }
        let person = stage.attach(&[command[1]], 80, 24);
        person.sees("demo>");
        stage.fleet.ok(command);
        person.sees(words);
        assert_eq!(person.leaves(), 0);
    }
}
