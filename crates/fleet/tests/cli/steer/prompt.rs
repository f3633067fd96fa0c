//! Saying more to agents: who is told, what is kept, what is taken up again.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use fleet_testkit::wait_until;
use serde_json::Value;

use super::super::support::{error, fleet};
use super::{SOON, Yard};

fn texts(task: &Value) -> Vec<&str> {
    task["prompts"].as_array().unwrap().iter().map(|prompt| prompt["text"].as_str().unwrap()).collect()
}

#[test]
fn what_is_said_before_a_task_starts_is_kept() {
    let yard = Yard::new();
    let task = yard.add("login", "write a x");
    let ada = yard.fleet.env("USER", "ada");
    let told = ada.json(&["prompt", "login", "Mind the tests"]);
    assert_eq!((&told["reception"], &told["run"]), (&"kept".into(), &Value::Null), "by its branch: {told}");
    assert_eq!(
        (&told["prompt"]["number"], &told["prompt"]["by"], &told["prompt"]["sent_at"]),
        (&1.into(), &"ada".into(), &Value::Null)
    );
    assert_eq!(told["prompt"]["state"], "waiting");
    assert_eq!(told["task"]["status"], "ready");
    let said = ada.stdin("And the\ndocs\n").ok(&["prompt", &task[..12], "-"]);
    assert!(said.contains(&task) && said.contains("its agent gets it when it starts"), "{said}");
    yard.fleet.ok(&["task", "hold", &task]);
    let file = yard.sign("more.md");
    fs::write(&file, "\u{1b}[2JAnd more").unwrap();
    let said = ada.ok(&["prompt", &task, "--file", file.to_str().unwrap()]);
    assert!(said.contains("held") && said.contains(&format!("fleet task release {task}")), "{said}");
    assert_eq!(yard.task(&task)["state"], "held");
    assert_eq!(texts(&yard.task(&task)), ["Mind the tests", "And the\ndocs\n", "\u{1b}[2JAnd more"]);
    let shown = yard.fleet.ok(&["task", "show", &task]);
    let lines: Vec<&str> =
        shown.lines().filter(|line| line.contains("ada") && line.contains("waiting")).collect();
    assert_eq!(lines.len(), 3, "{shown}");
    assert!(lines[0].ends_with("Mind the tests") && lines[2].contains(r"\u{1b}[2JAnd more"), "{shown}");
    let events = yard.fleet.ok(&["events", "--json"]);
    assert_eq!(events.matches("\"kind\":\"task.prompted\"").count(), 3, "{events}");
}

#[test]
fn an_agent_at_work_has_it_queued_and_goes_on() {
    let mut yard = Yard::new();
    let task = yard.add_staying("login", "write a x");
    yard.start_runner();
    yard.at_work(&["login"]);
    let run = yard.run_of(&task);
    for name in ["login", &task, &run, &run[..12]] {
        let told = yard.fleet.json(&["prompt", name, "More"]);
        assert_eq!((&told["reception"], &told["run"]), (&"live".into(), &run.as_str().into()), "{name}");
    }
    let said = yard.fleet.ok(&["prompt", "login", "More"]);
    let queued = format!("queued for demo in run {run}: delivered at once if the agent accepts input");
    assert!(said.contains(&queued), "{said}");
    let told = yard.fleet.json(&["prompt", "login", "Then the docs", "--later"]);
    assert_eq!(
        (&told["reception"], &told["prompt"]["kind"]),
        (&"kept".into(), &"follow_up".into()),
        "{told}"
    );
    let said = yard.fleet.ok(&["prompt", "login", "--later", "Then the rest"]);
    assert!(said.contains(&format!("gets it when run {run} has ended")), "{said}");
    assert!(yard.fleet.ok(&["show", "login"]).contains("fleet prompt login"));
    let shown = yard.task(&task);
    assert_eq!((&shown["state"], texts(&shown).len()), (&"running".into(), 7), "the nudge did no harm");
    yard.fleet.ok(&["kill", "login", "--yes"]);
    assert_eq!(texts(&yard.task(&task)).len(), 7, "kept for whoever takes it up again");
}

#[test]
fn a_task_is_not_done_while_somebody_has_more_to_say() {
    let mut yard = Yard::new();
    let go = yard.sign("go");
    let task = yard.add("login", &format!("append a.txt line\nwait-for \"{}\"", go.display()));
    yard.start_runner();
    wait_until(SOON, "the agent", || yard.task(&task)["runs"][0]["state"] == "running");
    yard.fleet.ok(&["prompt", "login", "More"]);
    fs::write(&go, "").unwrap();
    wait_until(SOON, "its end", || yard.task(&task)["state"] == "done");
    let shown = yard.task(&task);
    let runs: Vec<&Value> = shown["runs"].as_array().unwrap().iter().map(|run| &run["state"]).collect();
    assert_eq!(runs, ["succeeded", "succeeded"], "{shown}");
    assert_eq!(yard.file("login", "a.txt"), "line\nline", "on the same branch");
}

#[test]
fn what_is_over_goes_on_with_its_branch() {
    let yard = Yard::new();
    let task = yard.add("login", "append a.txt line");
    let later = yard.fleet.ok(&["task", "add", "-q", "Later", "--agent", "demo", "--after", &task]);
    let later = later.trim_end();
    yard.fleet.ok(&["task", "hold", later]);
    yard.finish_all();
    assert_eq!(yard.task(&task)["state"], "done");
    yard.fleet.ok(&["task", "release", later]);
    assert!(yard.fleet.ok(&["show", "login"]).contains(&format!("fleet prompt {task}")));
    let told = yard.fleet.json(&["prompt", "login", "Once more"]);
    assert_eq!(
        (&told["reception"], &told["task"]["status"]),
        (&"reopened".into(), &"ready".into()),
        "{told}"
    );
    assert_eq!(yard.task(later)["status"], "blocked", "it waits again");
    yard.finish_all();
    let shown = yard.task(&task);
    assert_eq!((&shown["state"], shown["runs"].as_array().unwrap().len()), (&"done".into(), 2), "{shown}");
    assert_eq!(yard.file("login", "a.txt"), "line\nline", "on top of what was there");
    assert_eq!(yard.task(later)["state"], "done");
    let killed = yard.add("gone", "hang");
    yard.fleet.ok(&["kill", "gone", "--yes"]);
    let said = yard.fleet.ok(&["prompt", &killed, "Do it after all"]);
    assert!(said.contains("requeued"), "{said}");
    assert_eq!(yard.task(&killed)["state"], "queued");
}

#[test]
fn what_is_taken_up_again_starts_by_itself() {
    let mut yard = Yard::new();
    yard.fleet = yard.fleet.env("FLEET_AUTOSTART", "true");
    let task = yard.add("login", "append a.txt line");
    let is_done = || yard.task(&task)["state"] == "done";
    wait_until(SOON, "the first run", is_done);
    yard.fleet.ok(&["stop"]);
    let said = yard.fleet.run(&["prompt", "login", "Once more"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stderr.contains("started the runner in the background"), "{said:?}");
    wait_until(SOON, "the second run", || {
        is_done() && yard.task(&task)["runs"].as_array().unwrap().len() == 2
    });
}

#[test]
fn a_prompt_answers_a_question() {
    let yard = Yard::new();
    let task = yard.add("asks", "write a x\nask Which way?");
    yard.finish_all();
    assert_eq!(yard.task(&task)["state"], "waiting");
    for look in [["why", "asks"], ["show", "asks"], ["logs", "asks"], ["status", "--color=never"]] {
        assert!(yard.fleet.ok(&look).contains("Which way?"), "{look:?}");
    }
    let answer = format!("`fleet answer {task}.1 \"…\"` answers it");
    assert!(yard.fleet.ok(&["why", "asks"]).contains(&answer));
    let shown = yard.fleet.ok(&["show", "asks"]);
    assert!(shown.contains(&answer) && !shown.contains("succeeded"), "{shown}");
    assert!(!yard.fleet.ok(&["list", "--all"]).contains("succeeded"));
    let told = yard.fleet.json(&["prompt", "asks", "To the left"]);
    assert_eq!((&told["reception"], &told["task"]["state"]), (&"reopened".into(), &"queued".into()));
    assert_eq!(texts(&yard.task(&task)), ["Which way?", "You asked: Which way?\nThe answer: To the left"]);
}

#[test]
fn what_cannot_be_said_changes_nothing() {
    let yard = Yard::new();
    let task = yard.add("login", "hang");
    yard.fleet.ok(&["task", "hold", &task]);
    let large = yard.sign("large");
    fs::write(&large, "x".repeat((16 << 20) + 1)).unwrap();
    let binary = yard.sign("binary");
    fs::write(&binary, b"\xff\xfe").unwrap();
    let (large, binary) = (large.to_str().unwrap(), binary.to_str().unwrap());
    let nowhere = yard.sign("no-such-file");
    for (exit, code, arguments) in [
        (2, "invalid-value", vec!["prompt", &task, ""]),
        (2, "invalid-value", vec!["prompt", &task, " \n\t"]),
        (2, "invalid-value", vec!["prompt", &task, "-"]),
        (2, "invalid-value", vec!["prompt", &task, "--file", large]),
        (2, "invalid-value", vec!["prompt", &task, "--file", binary]),
        (1, "io", vec!["prompt", &task, "--file", nowhere.to_str().unwrap()]),
        (2, "usage", vec!["prompt", &task]),
        (2, "usage", vec!["prompt", &task, "x", "--file", large]),
        (2, "usage", vec!["prompt"]),
        (3, "task-not-found", vec!["prompt", "t0zzzzzzzz", "x"]),
        (3, "task-not-found", vec!["prompt", "no-such-branch", "x"]),
        (3, "task-not-found", vec!["prompt", "", "x"]),
    ] {
        let said = error(&yard.fleet.stdin("").fail(exit, &[&arguments[..], &["--json"]].concat()));
        assert_eq!(said.0, code, "{arguments:?}: {said:?}");
        assert!(texts(&yard.task(&task)).is_empty(), "{arguments:?}");
    }
    for number in 1..=3 {
        assert_eq!(yard.fleet.json(&["prompt", &task, "x"])["prompt"]["number"], number);
    }
}

#[test]
fn an_agent_that_cannot_be_started_is_told_before_anything_is_queued() {
    let yard = Yard::new();
    let known = ["-c", "agents.far-away.model=m"];
    let args = ["task", "add", "-q", "Elsewhere", "--agent", "far-away", known[0], known[1]];
    let task = yard.fleet.ok(&args).trim_end().to_owned();
    assert_eq!(yard.fleet.json(&["prompt", &task, "x"])["reception"], "kept", "whoever has it starts it");
    yard.fleet.ok(&["task", "cancel", &task]);
    let failed = yard.fleet.fail(2, &["prompt", &task, "x", "--json"]);
    assert_eq!(error(&failed).0, "invalid-value");
    assert_eq!(yard.task(&task)["state"], "cancelled");
    assert_eq!(texts(&yard.task(&task)).len(), 1);
}

#[test]
fn tasks_of_other_repositories_are_found_by_their_ids() {
    let yard = Yard::new();
    let task = yard.add("login", "hang");
    let elsewhere = yard.fleet.cwd(yard.fleet.user_home());
    assert_eq!(elsewhere.json(&["prompt", &task, "x"])["reception"], "kept");
    elsewhere.fail(3, &["prompt", "login", "x"]);
    let nobody = fleet().cwd(yard.repo.path());
    assert_eq!(error(&nobody.fail(3, &["prompt", &task, "x", "--json"])).0, "task-not-found");
}

#[test]
fn what_an_agent_was_told_in_vain_is_told_again() {
    let yard = Yard::new();
    let sign = yard.sign("tried").display().to_string();
    let task = yard.add("login", &format!("once \"{sign}\" exit 1\nwrite a x"));
    yard.fleet.ok(&["prompt", "login", "Mind the tests"]);
    yard.finish_all();
    assert_eq!(yard.task(&task)["state"], "failed");
    yard.fleet.ok(&["task", "retry", &task]);
    yard.finish_all();
    let shown = yard.task(&task);
    // The first one ended before it showed that it had read it.
    assert_eq!((&shown["state"], &shown["prompts"][0]["run"]), (&"done".into(), &shown["runs"][1]["id"]));
    for run in shown["runs"].as_array().unwrap() {
        let folder = yard.fleet.home().join("runs").join(run["id"].as_str().unwrap());
        let told = fs::read_to_string(folder.join("prompt.md")).unwrap();
        assert_eq!(told.matches("Mind the tests").count(), 1, "{told}");
    }
    assert_eq!(shown["messages"], shown["prompts"]);
    yard.fleet.ok(&["prompt", "login", "And the docs"]);
    yard.finish_all();
    let of_run = yard.fleet.json(&["show", "login"])["messages"].clone();
    assert_eq!(of_run.as_array().unwrap().len(), 1, "{of_run}");
    assert_eq!((&of_run[0]["text"], &of_run[0]["state"]), (&"And the docs".into(), &"seen".into()));
    let shown = yard.fleet.ok(&["show", "login"]);
    let is_it = |line: &str| line.contains(" prompt ") && line.ends_with("And the docs");
    assert!(shown.lines().any(|line| is_it(line) && line.contains(" seen ")), "{shown}");
    let folder = yard.fleet.home().join("runs").join(yard.run_of(&task));
    let told = fs::read_to_string(folder.join("prompt.md")).unwrap();
    assert!(told.contains("And the docs") && !told.contains("Mind the tests"), "that is done: {told}");
}

/// An agent that knows nothing of what it said before: the same run tells it everything.
#[test]
fn a_conversation_that_is_gone_is_begun_anew_in_the_same_run() {
    let yard = Yard::new();
    let program = yard.sign("forgetful");
    let script = "#!/bin/sh\nif [ $1 = again ]; then echo \"I do not know $2\" >&2; exit 1; fi\n\
        echo session s-$$\ncat > told.txt\n";
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let config = format!(
        "[agents.forgetful]\nprogram = '{}'\nprompt = 'stdin'\nargs = ['new']\nresume_args = ['again', '{{session}}']\n\
         session_pattern = 'session (\\S+)'\n",
        program.display()
    );
    fs::write(yard.fleet.home().join("config.toml"), config).unwrap();
    let add = ["task", "add", "-q", "Fix it", "--agent", "forgetful", "--branch", "login"];
    let task = yard.fleet.ok(&add).trim_end().to_owned();
    yard.finish_all();
    yard.fleet.ok(&["prompt", "login", "Mind the tests"]);
    yard.finish_all();
    let shown = yard.task(&task);
    let runs = shown["runs"].as_array().unwrap();
    assert_eq!((runs.len(), &shown["state"], &shown["failures"]), (2, &"done".into(), &0.into()), "{shown}");
    assert_ne!(runs[0]["session"], runs[1]["session"]);
    let told = yard.repo.git(&["show", "login:told.txt"]);
    for part in ["You work alone", "This is attempt 2.", "Fix it", "Mind the tests"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let events = yard.fleet.ok(&["events", "-n", "50"]);
    assert!(events.contains("it could not continue its conversation"), "{events}");
}
