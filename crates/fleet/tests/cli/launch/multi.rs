//! Several prompts on several branches.

use super::super::support::error;
use super::{Stage, prompt};

#[test]
fn each_does_its_own_work() {
    let stage = Stage::new();
    let line = |branch: &str, text: &str| serde_json::json!({ "branch": branch, "prompt": prompt("Write", text), "agent": "demo", "model": null });
    let file = format!("# work\n\n{}\n{}\n", line("two", "write b.txt 2"), line("three", "write c.txt 3"));
    let first = format!("one:{}", prompt("Write", "write a.txt 1"));
    let answer = stage.fleet.stdin(file).json(&["multi", &first, "--file", "-"]);
    let tasks = answer["tasks"].as_array().unwrap();
    let branches: Vec<&str> = tasks.iter().map(|task| task["branch"].as_str().unwrap()).collect();
    assert_eq!(branches, ["one", "two", "three"]);
    assert!(tasks.iter().all(|task| task["batch"] == answer["batch"] && task["state"] == "done"), "{answer}");
    assert_eq!((stage.file("one", "a.txt"), stage.file("three", "c.txt")), ("1".to_owned(), "3".to_owned()));
}

#[test]
fn a_line_says_what_the_options_do_not() {
    let stage = Stage::quiet();
    stage.repo.write(
        "work.txt",
        "a: First: with a colon\n{\"branch\":\"b\",\"prompt\":\"Second\",\"model\":\"m2\"}\n",
    );
    let answer =
        stage.fleet.json(&["multi", "--file", "work.txt", "-d", "--model", "m1", "--limit", "usd=1"]);
    let tasks = answer["tasks"].as_array().unwrap();
    assert_eq!((&tasks[0]["title"], &tasks[0]["model"]), (&"First: with a colon".into(), &"m1".into()));
    assert_eq!((&tasks[1]["title"], &tasks[1]["model"]), (&"Second".into(), &"m2".into()));
    assert_eq!(tasks[1]["limits"]["micro_usd"], 1_000_000);
}

#[test]
fn one_mistake_creates_nothing() {
    let stage = Stage::quiet();
    stage.add("First");
    let (content, branches) = (stage.content(), stage.branches());
    let many: Vec<String> = (0..101).map(|number| format!("b{number}:x")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    for (code, arguments, said) in [
        (2, vec!["good:x", "no colon"], "there is no colon"),
        (2, vec!["good:x", "a b:x"], "it contains ' '"),
        (2, vec!["good:x", ":x"], "it is empty"),
        (2, vec!["good:x", "bad: "], "prompt: it is empty"),
        (2, vec!["good:x", "good:y"], "named twice"),
        (2, vec!["good:x", "good/y:y"], "side by side"),
        (2, vec!["--file", "list.txt"], "line 3"),
        (2, vec!["--file", "none.txt"], "no work"),
        (2, many, "101 tasks at once"),
        (4, vec!["good:x", "main:x"], "checked out"),
    ] {
        stage.repo.write("list.txt", "good: x\n\nno colon\n");
        stage.repo.write("none.txt", "# nothing\n");
        let output = stage.fleet.fail(code, &[&["multi", "--json"], arguments.as_slice()].concat());
        let (_, message, _) = error(&output);
        assert!(message.contains(said), "{arguments:?}: {message}");
        assert_eq!((stage.content(), stage.branches()), (content.clone(), branches.clone()), "{arguments:?}");
    }
    stage.fleet.fail(2, &["multi"]);
}
