//! `fleet logs`

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use fleet_testkit::wait_until;

use super::super::support::{error, json_lines};
use super::{BOUND, Live, add, is_harmless, run_all, world};

/// Everything that an agent should not be able to do to a terminal.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m\u{202e}\u{8}";

#[test]
fn what_an_agent_does_is_told_in_its_order_and_nothing_drives_the_terminal() {
    let world = world();
    let script = format!(
        "think Where is it?\nwrite a.txt hello\nsay First{HOSTILE}\nraw {HOSTILE}raw\ncommit Done{HOSTILE}\n\
         stderr {HOSTILE}oops\nbinary 64kB\nsay Last"
    );
    add(&world, "feature", &script, &[]);
    run_all(&world);
    let output = world.fleet.run(&["logs", "feature"]);
    assert!(output.stderr.contains("`fleet logs feature --stderr`"), "{}", output.stderr);
    let text = output.stdout;
    is_harmless(&text);
    let places: Vec<usize> =
        ["Where is it?", "▸ write a.txt", "  ✓ ok", "First\\u{1b}[2J", "raw", "▸ commit", "Last"]
            .iter()
            .map(|part| text.find(part).unwrap_or_else(|| panic!("{part} in\n{text}")))
            .collect();
    assert!(places.is_sorted(), "{places:?} in\n{text}");
    let errors = world.fleet.ok(&["logs", "feature", "--stderr"]);
    is_harmless(&errors);
    assert!(errors.trim_end().ends_with("oops"), "{errors}");
    is_harmless(&world.fleet.ok(&["logs", "feature", "--color", "always"]).replace("\u{1b}[", ""));
}

#[test]
fn raw_is_byte_for_byte() {
    let world = world();
    add(&world, "feature", &format!("raw {HOSTILE}\nbinary 100kB\nsay end"), &[]);
    run_all(&world);
    let id = world.fleet.json(&["show", "feature"])["id"].as_str().unwrap().to_owned();
    let kept = fs::read(world.fleet.home().join("runs").join(&id).join("stdout.log")).unwrap();
    let mut command = world.fleet.command(&["logs", "feature", "--raw"]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success());
    assert!(kept.len() > 100_000 && output.stdout == kept, "{} of {} bytes", output.stdout.len(), kept.len());
    let last = world.fleet.ok(&["logs", "feature", "--raw", "-n", "1"]);
    assert!(last.lines().count() == 1 && last.contains("\"type\":\"result\""), "{last}");
    let (code, ..) = error(&world.fleet.fail(2, &["logs", "feature", "--raw", "--json"]));
    assert_eq!(code, "usage");
}

#[test]
fn a_line_without_an_end_fills_neither_memory_nor_screen() {
    let world = world();
    add(&world, "feature", "flood 10MB noline\nsay Still here", &[]);
    run_all(&world);
    let text = world.fleet.ok(&["logs", "feature"]);
    assert!(text.len() < 100_000, "{} bytes", text.len());
    assert!(text.contains("more of it with --raw"), "{}", &text[..200]);
    let all = world.fleet.ok(&["logs", "feature", "--raw"]);
    assert!(all.len() > 10_000_000, "{} bytes", all.len());
}

#[test]
fn a_log_that_was_too_long_says_what_is_missing() {
    let world = world();
    world.fleet.ok(&["config", "set", "limits.log", "1MB"]);
    add(&world, "feature", "say The beginning\nflood 5MB\nsay The end", &[]);
    run_all(&world);
    for arguments in [&["logs", "feature"][..], &["logs", "feature", "--raw"]] {
        let text = world.fleet.ok(arguments);
        let (start, gap, end) =
            (text.find("The beginning"), text.find("bytes were not kept]"), text.find("The end"));
        assert!(start.is_some() && start < gap && gap < end, "{arguments:?}: {start:?} {gap:?} {end:?}");
    }
    let entries = json_lines(&world.fleet.ok(&["logs", "feature", "--json"]));
    assert!(
        entries.iter().any(|entry| entry["kind"] == "gap" && entry["bytes"].as_u64().unwrap() > 1_000_000)
    );
}

#[test]
fn only_the_last_lines() {
    let world = world();
    add(&world, "feature", "say one\nsay two\\nthree\nsay four\nreport five", &[]);
    run_all(&world);
    assert_eq!(world.fleet.ok(&["logs", "feature", "-n", "3"]), "three\nfour\nfive\n");
    assert_eq!(world.fleet.ok(&["logs", "feature", "-n", "0"]), "");
    let entries = json_lines(&world.fleet.ok(&["logs", "feature", "-n", "2", "--json"]));
    assert_eq!(entries[0], serde_json::json!({ "kind": "text", "text": "four" }));
    assert_eq!(entries[1], serde_json::json!({ "kind": "end", "text": "five" }));
}

#[test]
fn following_shows_what_comes_and_ends_with_the_run() {
    let world = world();
    let live = Live::start(&world, "feature", "say Before the sign");
    let mut command = world.fleet.command(&["logs", "feature", "--follow"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut follower = command.spawn().unwrap();
    let mut lines = BufReader::new(follower.stdout.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    assert_eq!(first, "Before the sign", "it is shown while the agent is at work");
    live.give_sign();
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert!(rest.iter().any(|line| line == "The sign came"), "{rest:?}");
    assert!(follower.wait().unwrap().success());
    let mut said = String::new();
    follower.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(said.contains("the run has ended: succeeded"), "{said}");
    live.end();
    let again = world.fleet.ok(&["logs", "feature", "--follow", "--raw"]);
    assert!(again.contains("The sign came"), "following what is over shows it and ends");
}

#[test]
fn an_agent_that_never_spoke_is_told_apart() {
    let world = world();
    world.fleet.ok(&["config", "set", "workspaces.setup", "exit 1"]);
    add(&world, "feature", "say hello", &["--retries", "0"]);
    run_all(&world);
    for arguments in [&["logs", "feature"][..], &["logs", "feature", "--raw", "--follow"]] {
        let output = world.fleet.run(arguments);
        assert_eq!((output.code, output.stdout.as_str()), (0, ""), "{arguments:?}");
        assert!(output.stderr.contains("the agent has printed nothing"), "{}", output.stderr);
    }
}

/// Its keeper was killed, and there is no runner that would notice.
#[test]
fn following_a_run_that_nobody_keeps_comes_to_an_end() {
    let world = world();
    let mut live = Live::start(&world, "feature", "say Before the end");
    wait_until(BOUND, "its words are on disk", || world.fleet.ok(&["logs", "feature"]).contains("Before"));
    live.runner.kill().unwrap();
    let id = world.fleet.json(&["show", "feature"])["id"].as_str().unwrap().to_owned();
    let keeper = fs::read_to_string(world.fleet.home().join("live").join(&id)).unwrap();
    let keeper: serde_json::Value = serde_json::from_str(&keeper).unwrap();
    let killed =
        std::process::Command::new("kill").args(["-9", &keeper["pid"].to_string()]).status().unwrap();
    assert!(killed.success());
    let output = world.fleet.run(&["logs", "feature", "--follow"]);
    assert!(output.stdout.contains("Before the end"), "{output:?}");
    assert!(output.stderr.contains("this run lost its keeper"), "{output:?}");
    // The next runner takes over, and ends what is left of the agent.
    run_all(&world);
    assert_eq!(world.fleet.json(&["show", &id])["state"], "lost");
}

#[test]
fn a_log_that_is_not_here_is_no_empty_one() {
    let world = world();
    add(&world, "feature", "say hello", &["--read-only"]);
    run_all(&world);
    let id = world.fleet.json(&["show", "feature"])["id"].as_str().unwrap().to_owned();
    fs::remove_dir_all(world.fleet.home().join("runs").join(&id)).unwrap();
    let (code, message, hints) = error(&world.fleet.fail(3, &["logs", "feature", "--json"]));
    assert_eq!(code, "not-here");
    assert!(
        message.contains("have been removed") && hints.contains(&format!("fleet show {id}")),
        "{message} {hints}"
    );
    fs::write(world.fleet.home().join("place"), "elsewhere\n").unwrap();
    let (code, message, _) = error(&world.fleet.fail(3, &["logs", "feature", "--json"]));
    assert_eq!(code, "not-here");
    assert!(message.contains("worked on host"), "{message}");
}
