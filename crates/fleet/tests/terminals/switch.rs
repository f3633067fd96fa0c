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
    assert!(stage.repo.git(&["ls-tree", "-r", "--name-only", "h"]).contains("one.txt"));
}
