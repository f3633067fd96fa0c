//! Prompts and answers.

use std::thread;

use fleet_testkit::wait_until;

use super::stage::{BOUND, DETACH, Stage};

#[test]
fn any_prompt_arrives_whole() {
    let stage = Stage::new();
    stage.open("one");
    let long = format!("{}the end", "a long line of words \u{1b}[31m and keys\n".repeat(5_000));
    for text in ["plain words", "-l it's \"quoted\" $HOME `ls` C-c", "two\nlines", "tab\there", &long] {
        stage.fleet.stdin(text).ok(&["prompt", "one", "-"]);
        let shown = || stage.fleet.json(&["task", "show", "one", "--events", "1000"]);
        wait_until(BOUND, "the prompt was seen", || {
            let messages = shown()["messages"].as_array().unwrap().clone();
            messages.last().unwrap()["state"] == "seen"
        });
        let took = || {
            let events = shown()["events"].as_array().unwrap().clone();
            let took = events.iter().rev().find(|event| event["kind"] == "run.took_prompt");
            took.map_or_else(String::new, |event| event["data"]["text"].as_str().unwrap().to_owned())
        };
        // Long ones come in a file, and the store keeps the beginning.
        let is_it = |took: &str| match text.len() {
            ..1_000 => took == text,
            _ => took.len() > 1_000 && text.starts_with(took.trim_end_matches('…')),
        };
        wait_until(BOUND, "the prompt arrives whole", || is_it(&took()));
        stage.wait_for_state("one", "idle");
    }
}

#[test]
fn a_permission_is_asked_for_and_answered() {
    let stage = Stage::new();
    stage.open("one");
    let refused = stage.fleet.fail(4, &["allow", "one"]);
    assert!(refused.stderr.contains("shows no permission dialog"), "{refused:?}");
    for (answer, file, is_written) in [
        (&["allow"][..], "a.txt", true),
        (&["deny"], "b.txt", false),
        (&["allow", "--always"], "c.txt", true),
    ] {
        stage.fleet.ok(&["prompt", "one", &format!("ask {file}")]);
        stage.wait_for_state("one", "asks_permission");
        // It must not become the answer.
        stage.fleet.ok(&["prompt", "one", "1"]);
        stage.fleet.ok(&[answer, &["one"]].concat());
        stage.wait_for_log("one", &format!("{} {file}", if is_written { "wrote" } else { "Allow:" }));
        let messages = || stage.fleet.json(&["task", "show", "one"])["messages"].clone();
        wait_until(BOUND, "both were seen", || {
            messages().as_array().unwrap().iter().all(|message| message["state"] == "seen")
        });
        stage.wait_for_state("one", "idle");
        let workspace = stage.run_of("one")["workspace"].as_str().unwrap().to_owned();
        assert_eq!(std::path::Path::new(&workspace).join(file).exists(), is_written, "{file}");
    }
}

#[test]
fn a_prompt_waits_for_what_a_person_types() {
    let stage = Stage::new();
    stage.open("one");
    let person = stage.attach(&["one"], 80, 24);
    person.sees("demo>");
    person.types("half a thou");
    person.sees("half a thou");
    let (mut keys, mut rest) = (0, "ght\r");
    stage.fleet.ok(&["prompt", "one", "another thing"]);
    let receipt = || stage.fleet.json(&["task", "show", "one"])["messages"][0]["state"].clone();
    // The keeper has it now, and could type it.
    wait_until(BOUND, "the run has taken it", || {
        stage.fleet.json(&["task", "show", "one"])["messages"][0]["run"].is_string()
    });
    while let Some(key) = rest.get(..1) {
        rest = &rest[1..];
        keys += 1;
        person.types(key);
    }
    assert_eq!(keys, 4);
    person.sees("demo> half a thought");
    person.sees("demo> another thing");
    wait_until(BOUND, "it was seen", || receipt() == "seen");
    person.types(DETACH);
}

#[test]
fn two_hundred_prompts_from_ten_senders_to_five_agents_arrive_once_and_in_order() {
    let stage = Stage::new();
    let branches = ["a", "b", "c", "d", "e"];
    for branch in branches {
        stage.open(branch);
    }
    thread::scope(|scope| {
        for sender in 0..10 {
            let (fleet, branches) = (&stage.fleet, &branches);
            scope.spawn(move || {
                for number in 0..20 {
                    let branch = branches[(sender + number) % branches.len()];
                    fleet.ok(&["prompt", branch, &format!("sender {sender} says {number:02}")]);
                }
            });
        }
    });
    let mut all = Vec::new();
    for branch in branches {
        let took = || -> Vec<String> {
            let shown = stage.fleet.json(&["task", "show", branch, "--events", "10000"]);
            let events = shown["events"].as_array().unwrap().clone();
            let took = events.iter().filter(|event| event["kind"] == "run.took_prompt");
            took.map(|event| event["data"]["text"].as_str().unwrap().to_owned()).collect()
        };
        wait_until(BOUND, "all prompts of one agent", || took().len() >= 40);
        let took = took();
        for sender in 0..10 {
            let own: Vec<_> =
                took.iter().filter(|text| text.starts_with(&format!("sender {sender} "))).collect();
            assert!(own.is_sorted(), "{branch}: {own:?}");
        }
        all.extend(took);
    }
    all.sort_unstable();
    let expected: Vec<String> = (0..10)
        .flat_map(|sender| (0..20).map(move |number| format!("sender {sender} says {number:02}")))
        .collect();
    assert_eq!(all, expected, "each once, and whole");
}

#[test]
fn one_answer_answers_one_dialog() {
    let stage = Stage::new();
    stage.open("one");
    stage.fleet.ok(&["prompt", "one", "ask a.txt b.txt c.txt"]);
    let workspace = stage.run_of("one")["workspace"].as_str().unwrap().to_owned();
    let is_written = |file: &str| std::path::Path::new(&workspace).join(file).exists();
    stage.wait_for_log("one", "Allow: a.txt?");
    stage.fleet.ok(&["allow", "one"]);
    stage.wait_for_log("one", "Allow: b.txt?");
    assert!(is_written("a.txt"));
    // The next dialog looks the same but for its name, and nobody has answered it.
    let shown = || stage.fleet.json(&["task", "show", "one", "--events", "1000"])["events"].clone();
    let asks = |what: &str| shown().as_array().unwrap().iter().any(|event| event["data"]["text"] == what);
    wait_until(BOUND, "it asks for the second", || asks("b.txt"));
    assert!(!is_written("b.txt") && !stage.logs("one").contains("Allow: c.txt?"), "{}", stage.logs("one"));
    // Two people answer at once: each answers one.
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| stage.fleet.ok(&["allow", "one"]));
        }
    });
    stage.wait_for_state("one", "idle");
    assert!(is_written("b.txt") && is_written("c.txt"));
    let refused = stage.fleet.fail(4, &["allow", "one"]);
    assert!(refused.stderr.contains("shows no permission dialog"), "{refused:?}");
}

/// Prompts that cannot be typed come in a file of a folder that the agent can write to.
#[test]
fn a_prompt_in_a_file_is_not_written_through_a_link_of_the_agent() {
    let stage = Stage::new();
    stage.open("one");
    let run = stage.run_of("one")["id"].as_str().unwrap().to_owned();
    let scratch = stage.fleet.home().join("runs").join(run).join("agent");
    let users = stage.fleet.user_home().join("precious");
    std::fs::create_dir(&users).unwrap();
    std::fs::create_dir_all(&scratch).unwrap();
    std::os::unix::fs::symlink(&users, scratch.join("messages")).unwrap();
    stage.fleet.stdin("a key \u{1b}[A that nobody pressed").ok(&["prompt", "one", "-"]);
    let shown = || stage.fleet.json(&["task", "show", "one", "--events", "1000"])["events"].clone();
    wait_until(BOUND, "a warning", || shown().to_string().contains("could not be written to a file"));
    assert_eq!(std::fs::read_dir(&users).unwrap().count(), 0);
    std::fs::remove_file(scratch.join("messages")).unwrap();
    stage.fleet.ok(&["prompt", "one", "still here"]);
    stage.wait_for_log("one", "demo> still here");
}
