//! `fleet show`

use super::{Live, add, run_all, world};

#[test]
fn a_run_that_succeeded_is_shown_with_what_git_knows_better() {
    let world = world();
    let script = "write src/a.txt hello\nusage 12000 345 0.5\nlie src/never.txt\nsay It works";
    let task = add(&world, "feature", script, &[]);
    run_all(&world);
    let shown = world.fleet.json(&["show", "feature"]);
    assert_eq!(
        (&shown["state"], &shown["task_state"], &shown["attempt"]),
        (&"succeeded".into(), &"done".into(), &1.into())
    );
    assert_eq!((&shown["attempts"], &shown["attempts_allowed"]), (&1.into(), &3.into()));
    assert_eq!(shown["result"]["files_changed"][0], "src/a.txt");
    assert!(shown["result"]["remarks"][0].as_str().unwrap().contains("src/never.txt"), "{shown}");
    assert_eq!(shown["snapshots"][0]["number"], 1);
    let commit = shown["snapshots"][0]["commit"].as_str().unwrap();
    assert_eq!(world.fleet.vault().git(&["show", &format!("{commit}:src/a.txt")]), "hello");
    let kept: Vec<&str> =
        shown["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    for name in ["prompt.md", "stdout.log", "result.json"] {
        assert!(kept.iter().any(|path| path.ends_with(name)), "{name} among {kept:?}");
    }
    let text = world.fleet.ok(&["show", "feature"]);
    for part in [
        "succeeded after",
        task.as_str(),
        "1 of at most 3",
        "It works",
        "1 file changed\n  src/a.txt",
        "! reported as changed, but git shows no change: src/never.txt",
        "12.0k tokens in, 345 out, $0.50",
        "at the end",
        "`fleet diff feature`",
        "`git merge feature`",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
}

#[test]
fn a_run_at_work_is_shown_with_its_workspace_and_what_it_uses() {
    let world = world();
    let live = Live::start(&world, "feature", "error rate_limited slow down\nsay Going on");
    fleet_testkit::wait_until(super::BOUND, "the error is known", || {
        world.fleet.json(&["show", "feature"])["notes"][0]["kind"] == "run.error"
    });
    let shown = world.fleet.json(&["show", "feature"]);
    let workspace = shown["workspace"].as_str().unwrap();
    assert!(std::path::Path::new(workspace).join("README.md").exists(), "{workspace}");
    assert!(shown["load"]["processes"].as_u64().unwrap() >= 1, "{shown}");
    assert_eq!((&shown["result"], &shown["ended_at"]), (&().into(), &().into()));
    let text = world.fleet.ok(&["show", "feature"]);
    for part in
        ["running for", workspace, "reason=rate_limited text=slow down", "fleet logs feature --follow"]
    {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    live.end();
}

#[test]
fn a_failed_set_up_shows_the_end_of_its_log() {
    let world = world();
    world.fleet.ok(&["config", "set", "workspaces.setup", "echo one; printf '\\033[2Jtwo\\n'; exit 3"]);
    add(&world, "feature", "write a.txt x", &["--retries", "0"]);
    run_all(&world);
    let shown = world.fleet.json(&["show", "feature"]);
    assert_eq!((&shown["state"], &shown["reason"]), (&"failed".into(), &"setup_failed".into()));
    assert_eq!(shown["setup_log"], serde_json::json!(["one", "\u{1b}[2Jtwo"]));
    let text = world.fleet.ok(&["show", "feature"]);
    assert!(text.contains("the end of the set-up log\n  one\n  \\u{1b}[2Jtwo"), "{text}");
    assert!(text.contains("fleet task retry"), "{text}");
    super::is_harmless(&text);
}

#[test]
fn an_earlier_attempt_says_that_another_one_came() {
    let world = world();
    let marker = world.fleet.user_home().join("once");
    let script = format!("append a.txt x\nonce \"{}\" exit 1\nsay Second time", marker.display());
    let text = format!("```demo\n{script}\n```");
    let line = serde_json::json!({
        "title": "Twice", "agent": "demo", "branch": "feature", "description": text,
        "retry": { "retries": 1, "backoff_seconds": 0 },
    });
    world.fleet.stdin(line.to_string()).ok(&["task", "import", "-"]);
    let task = world.fleet.json(&["task", "list"])["tasks"][0]["id"].as_str().unwrap().to_owned();
    run_all(&world);
    let runs = world.fleet.json(&["task", "show", &task])["runs"].clone();
    assert_eq!(runs.as_array().unwrap().len(), 2, "{runs}");
    let (first, second) = (runs[0]["id"].as_str().unwrap(), runs[1]["id"].as_str().unwrap());
    let text = world.fleet.ok(&["show", first]);
    assert!(text.contains(&format!("attempt 2 came after this one: `fleet show {task}`")), "{text}");
    assert_eq!(world.fleet.json(&["show", &task])["id"], second);
    let first_log = world.fleet.ok(&["logs", &task, "--attempt", "1"]);
    assert!(!first_log.contains("Second time"), "{first_log}");
    assert!(world.fleet.ok(&["logs", &task]).contains("Second time"));
    let wrong = world.fleet.fail(3, &["logs", &task, "--attempt", "7"]);
    assert!(
        wrong.stderr.contains("there is no attempt 7") && wrong.stderr.contains("newest is 2"),
        "{}",
        wrong.stderr
    );
    let (earlier, later) = (world.fleet.run(&["diff", first]), world.fleet.ok(&["diff", second]));
    assert_eq!(earlier.stdout.matches("+x").count(), 1, "{}", earlier.stdout);
    assert!(earlier.stderr.contains("a later attempt's"), "{}", earlier.stderr);
    assert!(later.contains("xx") || later.matches("+x").count() == 2, "{later}");
}
