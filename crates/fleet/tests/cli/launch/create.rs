//! One agent on one branch, followed to its end.

use super::super::support::{World, error};
use super::{Stage, id, prompt};

fn followed_to_its_end(stage: &Stage) {
    let prompt = prompt("Greet", "say hello\nwrite a.txt hello");
    let output = stage.fleet.run(&["create", "greet", "-p", &prompt]);
    assert_eq!(output.code, 0, "{output:?}");
    let lines: Vec<Vec<&str>> = output.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    let states: Vec<&str> = lines.iter().map(|line| line[1]).collect();
    assert_eq!(states.last(), Some(&"done"), "{output:?}");
    assert!(states.contains(&"running"), "{output:?}");
    assert!(lines.iter().all(|line| line[0] == lines[0][0] && line[2] == "greet"), "{output:?}");
    assert!(output.stderr.contains("git merge greet"), "{output:?}");
    assert_eq!(stage.file("greet", "a.txt"), "hello");
    assert_eq!(stage.repo.git(&["status", "--porcelain"]), "", "the user's checkout is as it was");
}

#[test]
fn followed_to_its_end_on_sqlite() {
    followed_to_its_end(&Stage::new());
}

#[test]
fn followed_to_its_end_on_postgresql() {
    followed_to_its_end(&Stage::with(World::postgres()));
}

#[test]
fn the_answer_in_json_is_how_it_ended() {
    let stage = Stage::new();
    let text = prompt("# Greet\nin a file", "write a.txt hello");
    let options = ["--model", "m1", "--limit", "time=5m", "--quick"];
    let arguments = [["create", "greet", "-p", &text].as_slice(), &options].concat();
    let answer = stage.fleet.json(&arguments);
    assert!(answer["batch"].is_null());
    let task = &answer["tasks"][0];
    assert_eq!(answer["tasks"].as_array().unwrap().len(), 1);
    for (field, value) in
        [("state", "done"), ("title", "Greet"), ("branch", "greet"), ("agent", "demo"), ("model", "m1")]
    {
        assert_eq!(task[field], value, "{field}");
    }
    assert_eq!((&task["priority"], &task["limits"]["seconds"]), (&5.into(), &300.into()));
    assert_eq!(task["setup"], "skip");
    assert_eq!(task["base"], stage.repo.git(&["rev-parse", "main"]), "what was current then");
    assert_eq!((&task["run"]["state"], &task["run"]["attempt"]), (&"succeeded".into(), &1.into()));
    let shown = stage.fleet.json(&["task", "show", &id(task)]);
    assert_eq!(shown["description"], text, "the whole prompt");
}

#[test]
fn a_failure_names_its_reason_and_what_to_do() {
    let stage = Stage::new();
    let prompt = prompt("Fail", "write half.txt done\nexit 3");
    let output = stage.fleet.fail(8, &["create", "bad", "-p", &prompt]);
    assert!(output.stdout.lines().last().unwrap().contains("failed"), "{output:?}");
    assert!(
        output.stderr.contains("bad failed: agent_error: the agent ended with exit status 3"),
        "{output:?}"
    );
    for command in ["fleet why bad", "fleet logs bad", "fleet resume bad"] {
        assert!(output.stderr.contains(command), "{command}: {output:?}");
    }
    assert_eq!(stage.file("bad", "half.txt"), "done", "what it left is kept");
    let again = stage.fleet.fail(8, &["create", "bad2", "-p", &prompt, "--json"]);
    assert!(again.stdout.contains(r#""state":"failed""#), "the answer is there all the same: {again:?}");
    assert_eq!(error(&again).0, "run-failed");
}

#[test]
fn a_question_ends_the_following() {
    let stage = Stage::new();
    let output = stage.fleet.fail(8, &["create", "ask", "-p", &prompt("Ask", "ask which one?")]);
    assert!(output.stderr.contains("ask waits for you"), "{output:?}");
}

#[test]
fn a_look_needs_no_change() {
    let stage = Stage::new();
    let output =
        stage.fleet.run(&["create", "look", "--read-only", "-p", &prompt("Look", "say all is well")]);
    assert_eq!(output.code, 0, "{output:?}");
    assert!(output.stdout.ends_with("all is well\n"), "what it found: {output:?}");
    assert!(output.stderr.contains("fleet show t"), "{output:?}");
}

#[test]
fn findings_in_prose_are_shown() {
    let stage = Stage::new();
    let steps = "report I found two bugs, in a and in b.";
    let output = stage.fleet.run(&["create", "look", "--read-only", "-p", &prompt("Look", steps)]);
    assert_eq!(output.code, 0, "{output:?}");
    assert!(output.stdout.ends_with("I found two bugs, in a and in b.\n"), "{output:?}");
    let shown = stage.fleet.json(&["show", "look"]);
    assert_eq!(shown["result"]["status"], "completed", "{shown}");
    assert_eq!(shown["result"]["summary"], "I found two bugs, in a and in b.");
}

#[test]
fn prompts_come_from_files_and_pipes() {
    let stage = Stage::quiet();
    stage.repo.write("prompt.md", "From a file\n");
    let create = |stage: &Stage, arguments: &[&str]| {
        let answer = stage.fleet.stdin("From a pipe").json(&[&["create", "-d"], arguments].concat());
        answer["tasks"][0]["title"].as_str().unwrap().to_owned()
    };
    assert_eq!(create(&stage, &["a", "--prompt-file", "prompt.md"]), "From a file");
    assert_eq!(create(&stage, &["b", "--prompt-file", "-"]), "From a pipe");
    assert_eq!(create(&stage, &["c", "-"]), "From a pipe");
}

#[test]
fn set_up_is_left_out_when_it_has_to_be_quick() {
    let stage = Stage::new();
    stage.fleet.ok(&["config", "set", "workspaces.setup", "echo ran > setup.txt"]);
    let text = prompt("Write", "write a.txt x");
    stage.fleet.ok(&["create", "slow", "-p", &text]);
    stage.fleet.ok(&["create", "fast", "-p", &text, "--quick"]);
    assert_eq!(stage.file("slow", "setup.txt"), "ran");
    let files = stage.repo.git(&["ls-tree", "--name-only", "fast"]);
    assert_eq!(files.lines().collect::<Vec<_>>(), ["README.md", "a.txt"]);
}

#[test]
fn the_work_starts_where_it_was_asked_to() {
    let stage = Stage::new();
    let first = stage.repo.git(&["rev-parse", "HEAD"]);
    stage.repo.write("later.txt", "later");
    stage.repo.commit("second");
    stage.fleet.ok(&["create", "old", "--base", "HEAD~1", "-p", &prompt("Write", "write a.txt x")]);
    assert_eq!(stage.repo.git(&["merge-base", "old", "main"]), first);
}

#[test]
fn what_is_not_committed_is_told() {
    let stage = Stage::quiet();
    let clean = stage.fleet.run(&["create", "a", "-d", "-p", "x"]);
    assert!(clean.code == 0 && !clean.stderr.contains("uncommitted"), "{clean:?}");
    stage.repo.write("README.md", "changed");
    stage.repo.write("new.txt", "x");
    let commit = stage.repo.git(&["rev-parse", "HEAD"]);
    let note = format!("note: 2 uncommitted changes are not included; starting from {}\n", &commit[..7]);
    for arguments in [&["create", "b", "-d", "-p", "x"][..], &["fanout", "2", "c", "-d", "-p", "x"]] {
        let said = stage.fleet.run(arguments).stderr;
        assert!(said.contains(&note), "{arguments:?}: {said}");
    }
    for arguments in
        [&["create", "d", "-d", "-p", "x", "--base", "HEAD"][..], &["create", "e", "-d", "-p", "x", "--json"]]
    {
        assert!(!stage.fleet.run(arguments).stderr.contains("uncommitted"), "{arguments:?}");
    }
}
