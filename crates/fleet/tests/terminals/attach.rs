//! Looking at agents.

use fleet_testkit::wait_until;

use super::stage::{BOUND, DETACH, Stage};

#[test]
fn a_person_sees_types_and_leaves() {
    let stage = Stage::new();
    stage.open("one");
    let person = stage.attach(&["one"], 80, 24);
    person.sees("demo>");
    person.types("remember this\r");
    person.sees("Done.");
    person.types(DETACH);
    person.sees("detached; the agent keeps running");
    assert_eq!(person.leaves(), 0);
    let again = stage.attach(&["one"], 80, 24);
    again.sees("remember this");
    again.types(DETACH);
    assert_eq!(again.leaves(), 0);
}

#[test]
fn several_people_share_a_terminal_of_the_smallest_size() {
    let stage = Stage::configured("[agents.shell]\nprogram = \"sh\"\nargs = []\nterminal_args = []\n");
    stage.fleet.ok(&["create", "sh", "--interactive", "--agent", "shell"]);
    let large = stage.attach(&["sh"], 200, 50);
    large.types("stty size\r");
    large.sees("50 200");
    let small = stage.attach(&["sh"], 80, 24);
    small.sees("50 200");
    small.types("clear; stty size\r");
    for person in [&small, &large] {
        person.sees("24 80");
    }
    let watcher = stage.attach(&["sh", "--read-only"], 40, 10);
    watcher.sees("24 80");
    watcher.types("touch never\r");
    small.types("clear; echo on''ly; stty size\r");
    for person in [&small, &large, &watcher] {
        person.sees("only");
        person.sees_when("the size that those who type share", |screen| screen.contains("24 80"));
    }
    let workspace = stage.run_of("sh")["workspace"].as_str().unwrap().to_owned();
    assert!(!std::path::Path::new(&workspace).join("never").exists(), "who only looks types nothing");
    small.types(DETACH);
    assert_eq!(small.leaves(), 0);
    large.types("clear; stty size\r");
    large.sees("50 200");
}

#[test]
fn a_new_size_reaches_the_agent() {
    let stage = Stage::configured("[agents.shell]\nprogram = \"sh\"\nargs = []\nterminal_args = []\n");
    stage.fleet.ok(&["create", "sh", "--interactive", "--agent", "shell"]);
    let person = stage.attach(&["sh"], 80, 24);
    person.types("stty size\r");
    person.sees("24 80");
    person.resizes(100, 30);
    wait_until(BOUND, "the new size", || {
        person.types("stty size\r");
        person.screen().contains("30 100")
    });
}

#[test]
fn another_key_detaches_and_wrong_ones_are_refused() {
    let stage = Stage::configured("[terminal]\ndetach_key = \"ctrl-a\"\n");
    stage.open("one");
    let person = stage.attach(&["one"], 80, 24);
    person.sees("Ctrl-A detaches");
    person.types(DETACH);
    person.types(b"\x01");
    person.sees("detached");
    assert_eq!(person.leaves(), 0);
    let refused = stage.fleet.fail(2, &["attach", "one", "--detach-key", "ctrl-c"]);
    assert!(refused.stderr.contains("not a key to detach with"), "{refused:?}");
}

#[test]
fn what_has_no_terminal_says_what_to_do() {
    let stage = Stage::new();
    let unknown = stage.fleet.fail(3, &["attach", "nothing"]);
    assert!(unknown.stderr.contains("nothing"), "{unknown:?}");
    stage.fleet.ok(&["create", "over", "-p", "say hello"]);
    let over = stage.fleet.fail(4, &["attach", "over"]);
    assert!(over.stderr.contains("`fleet attach over --takeover` opens"), "{over:?}");
    stage.open("one");
    let pipe = stage.fleet.fail(2, &["attach", "one"]);
    assert!(pipe.stderr.contains("needs a terminal"), "{pipe:?}");
}

#[test]
fn a_headless_agent_shows_its_stream_and_takes_prompts() {
    let stage = Stage::new();
    let script = "```demo\nsay I am here\nwait-for go 60s\n```";
    stage.fleet.ok(&["create", "h", "--headless", "--detach", "-p", script]);
    let person = stage.attach(&["h"], 80, 24);
    person.sees("I am here");
    person.sees("prompt>");
    person.types("and then \u{fc}ber\r");
    person.sees("you: and then über");
    let messages = stage.fleet.json(&["task", "show", "h"])["messages"].clone();
    assert_eq!(messages[0]["text"], "and then über");
    person.types(DETACH);
    assert_eq!(person.leaves(), 0);
}
