//! Pipes, colours and terminals.

use std::path::Path;

use fleet_testkit::fleet::Fleet;

use super::support::{World, can_make_terminals, fleet, shell};

const ESCAPE: char = '\u{1b}';

#[test]
fn a_reader_that_has_enough_is_no_failure() {
    let world = World::sqlite();
    // More than a pipe holds, so that writing does fail.
    let line = format!(
        "{{\"title\":\"Task {}\"}}
",
        "x".repeat(60)
    );
    world.fleet.stdin(line.repeat(2000)).ok(&["task", "import", "-"]);
    for command in [
        "task list -n 2000",
        "task list -n 2000 --json",
        "task export",
        "events --since 0 -n 3000",
        "completions bash",
        "man",
        "explain",
        "--help",
    ] {
        let output = shell(&world.fleet, &format!("\"$FLEET\" {command} | head -1"));
        assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{command}");
        assert_eq!(output.stdout.lines().count(), 1, "{command}");
    }
}

#[test]
fn a_full_output_device_is_a_failure() {
    if !Path::new("/dev/full").exists() {
        eprintln!("skipped: there is no /dev/full here");
        return;
    }
    let world = World::sqlite();
    world.add("First");
    for command in ["task list", "task export", "events", "completions zsh", "task list --json"] {
        let output = shell(&world.fleet, &format!("\"$FLEET\" {command} > /dev/full"));
        assert_eq!(output.code, 1, "{command}: {output:?}");
        assert!(output.stderr.contains("standard output"), "{command}: {output:?}");
    }
}

#[test]
fn colours_come_only_when_they_are_wanted() {
    let world = World::sqlite();
    world.add("First");
    let coloured = |arguments: &[&str]| world.fleet.ok(arguments).contains(ESCAPE);
    assert!(!coloured(&["task", "list"]), "not into a pipe");
    assert!(coloured(&["task", "list", "--color", "always"]));
    assert!(coloured(&["task", "list", "-c", "color=always"]));
    assert!(!coloured(&["task", "list", "-c", "color=always", "--color", "never"]), "the flag wins");
    assert!(!coloured(&["task", "list", "--json", "--color", "always"]), "JSON has none");
    let error = world.fleet.fail(3, &["task", "show", "t0zz", "--color", "always"]).stderr;
    assert!(error.contains(ESCAPE), "{error}");
}

/// What a command prints on a terminal of 80 columns.
pub(crate) fn on_terminal(fleet: &Fleet, command: &str) -> String {
    let inner = format!("stty cols 80 rows 24; \"$FLEET\" {command}");
    let fleet = fleet.env("TERM", "xterm-256color").env("INNER", inner);
    let output = shell(&fleet, "script -qec \"bash -c \\\"\\$INNER\\\"\" /dev/null");
    assert_eq!(output.code, 0, "{output:?}");
    output.stdout.replace('\r', "")
}

/// Without the escape sequences of colours.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        if character == ESCAPE {
            rest.by_ref().find(char::is_ascii_alphabetic);
        } else {
            out.push(character);
        }
    }
    out
}

#[test]
fn a_terminal_gets_colours_and_lines_that_fit() {
    if !can_make_terminals() {
        return;
    }
    let world = World::sqlite();
    let first = world.add(&"long ".repeat(60));
    world.fleet.ok(&["task", "add", "Second", "--after", &first, "-l", "some,labels", "--agent", "codex"]);
    world.fleet.ok(&["task", "add", &"漢字".repeat(60)]);
    let shown = on_terminal(&world.fleet, "task list");
    assert!(shown.contains(ESCAPE), "{shown}");
    let shown = plain(&shown);
    assert_eq!(shown.lines().count(), 4, "{shown}");
    for line in shown.lines() {
        let wide = line.chars().filter(|c| ('\u{4e00}'..'\u{a000}').contains(c)).count();
        assert!(line.chars().count() + wide <= 80, "{} columns: {line}", line.chars().count() + wide);
    }
    assert!(!on_terminal(&world.fleet, "task list --color never").contains(ESCAPE));
    let plain = world.fleet.env("NO_COLOR", "1");
    assert!(!on_terminal(&plain, "task list").contains(ESCAPE));
}

#[test]
fn a_pipe_at_a_terminal_gets_whole_lines() {
    if !can_make_terminals() {
        return;
    }
    let world = World::sqlite();
    let title = "long ".repeat(60);
    world.add(&title);
    let shown = on_terminal(&world.fleet, "task list | cat");
    assert!(shown.contains(title.trim_end()) && !shown.contains(ESCAPE), "{shown}");
}

#[test]
fn a_terminal_gets_json_that_people_can_read() {
    if !can_make_terminals() {
        return;
    }
    let world = World::sqlite();
    let shown = on_terminal(&world.fleet, "task list --json");
    assert!(shown.starts_with("{\n  \"tasks\": []"), "{shown}");
}

#[test]
fn plain_fleet_shows_its_help_as_a_mistake() {
    let output = fleet().fail(2, &[]);
    assert!(output.stderr.contains("Usage: fleet"), "{output:?}");
}
