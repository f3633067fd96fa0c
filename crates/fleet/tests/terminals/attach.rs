//! Looking at agents.

use fleet_testkit::person::Person;
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
    let refused = stage.fleet.fail(6, &["config", "set", "terminal.detach_key", "ctrl-c"]);
    assert!(refused.stderr.contains("`ctrl-` and a letter"), "{refused:?}");
    stage.fleet.ok(&["config", "set", "terminal.detach_key", "ctrl-b"]);
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

#[test]
fn a_paste_of_several_lines_is_one_prompt() {
    let stage = Stage::new();
    let script = "```demo\nsay I am here\nwait-for go 60s\n```";
    stage.fleet.ok(&["create", "h", "--headless", "--detach", "-p", script]);
    let person = stage.attach(&["h"], 60, 24);
    person.sees("prompt>");
    let bytes = || String::from_utf8_lossy(&person.bytes()).into_owned();
    assert!(bytes().contains("\x1b[?2004h"), "its terminal marks pastes");
    let lines: Vec<String> = (1..=9).map(|number| format!("line {number} of what was pasted")).collect();
    person.types(format!("please: \x1b[200~{}\r\x1b[201~", lines.join("\r\n")));
    person.sees("line 9 of what was pasted\\n");
    let messages = || stage.fleet.json(&["task", "show", "h"])["messages"].clone();
    assert_eq!(messages().as_array().unwrap().len(), 0, "nothing is sent before Enter");
    person.types("and so on\r");
    person.sees("you: please: line 1 of what was pasted");
    assert_eq!(messages().as_array().unwrap().len(), 1);
    assert_eq!(messages()[0]["text"], format!("please: {}\nand so on", lines.join("\n")));
    person.types(DETACH);
    person.sees("detached");
    assert!(bytes().contains("\x1b[?2004l"), "as it was");
    assert_eq!(person.leaves(), 0);
}

/// Frames come while keys are typed and sizes change: none is lost in between, so the picture at the end is whole.
#[test]
fn whoever_types_into_a_flood_sees_the_whole_screen_in_the_end() {
    let stage = Stage::configured("[agents.shell]\nprogram = \"sh\"\nargs = []\nterminal_args = []\n");
    stage.fleet.ok(&["create", "sh", "--interactive", "--agent", "shell"]);
    let person = stage.attach(&["sh"], 90, 24);
    person.types("stty -echo; PS1=; i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo \"line $i of a flood\"; done; echo the''end\r");
    person.sees("of a flood");
    for _ in 0..300 {
        person.types("x");
    }
    for columns in [80, 100, 90] {
        person.resizes(columns, 24);
    }
    person.sees("theend");
    let expected: Vec<String> = (2978..=3000).map(|number| format!("line {number} of a flood")).collect();
    let is_whole =
        |screen: &str| screen.lines().filter(|line| expected.iter().any(|one| one == line)).count() >= 20;
    person.sees_when("the end of the flood, whole", is_whole);
    person.types(DETACH);
    assert_eq!(person.leaves(), 0);
}

#[test]
fn lines_come_back_when_a_window_grows_again() {
    let stage = Stage::configured("[agents.shell]\nprogram = \"cat\"\nargs = []\nterminal_args = []\n");
    stage.fleet.ok(&["create", "sh", "--interactive", "--agent", "shell"]);
    let person = stage.attach(&["sh"], 90, 24);
    let long = format!("{} the end of it", "word ".repeat(12));
    person.types(format!("first\r{long}\rlast\r"));
    let whole = |screen: &str| screen.contains("first") && screen.contains(&long) && screen.contains("last");
    person.sees_when("all lines", whole);
    person.resizes(20, 3);
    person.sees_when("a part of them", |screen| screen.contains("last") && !screen.contains("first"));
    person.resizes(90, 24);
    person.sees_when("all lines again", whole);
    person.types(DETACH);
    assert_eq!(person.leaves(), 0);
}

#[test]
fn tmux_shows_all_agents_that_a_pattern_means() {
    let path = std::env::var_os("PATH").unwrap();
    if !std::env::split_paths(&path).any(|folder| folder.join("tmux").exists()) {
        eprintln!("skipped: there is no tmux here");
        return;
    }
    let stage = Stage::new();
    for branch in ["login-A", "login-B", "other"] {
        stage.open(branch);
    }
    let tmux = TmuxServer { folder: tempfile::tempdir().unwrap() };
    let fleet = stage.fleet.env("TMUX_TMPDIR", tmux.folder.path());
    let person = Person::run(fleet.command(&["attach", "--tmux", "login-*"]), 100, 24);
    person.sees("login-A");
    person.sees("login-B");
    person.sees("demo>");
    assert!(!person.screen().contains("other"));
    let refused = fleet.fail(3, &["attach", "--tmux", "nothing-*"]);
    assert!(refused.stderr.contains("nothing-*"), "{refused:?}");
    drop(tmux);
    person.leaves();
    assert_eq!(stage.fleet.json(&["list"])["runs"].as_array().unwrap().len(), 3, "the agents keep running");
}

/// The tmux of one test.
struct TmuxServer {
    folder: tempfile::TempDir,
}

impl Drop for TmuxServer {
    fn drop(&mut self) {
        let mut tmux = std::process::Command::new("tmux");
        let _ = tmux.env("TMUX_TMPDIR", self.folder.path()).env_remove("TMUX").arg("kill-server").status();
    }
}
