//! Checks of plain tasks: `--check`, with real runs of the demo agent.

use std::fs;

use serde_json::Value;

use super::support::{World, error};

/// A world in which no runner starts by itself.
fn world() -> World {
    let mut world = World::sqlite();
    world.fleet = world.fleet.env("FLEET_AUTOSTART", "false");
    world
}

#[track_caller]
fn add(world: &World, branch: &str, script: &str, more: &[&str]) -> String {
    let text = format!("Do it.\n\n```demo\n{script}\n```\n");
    let own = ["task", "add", "-q", "Do it", "--agent", "demo", "--branch", branch, "-d", &text];
    world.fleet.ok(&[&own[..], more].concat()).trim_end().to_owned()
}

#[test]
fn work_goes_back_with_the_output_until_its_checks_succeed() {
    let world = world();
    let sign = world.fleet.user_home().join("second");
    let script = format!("once \"{}\" exit 0\nwrite fixed.txt x", sign.display());
    let check = "sh -c 'echo the build says no; test -f fixed.txt'";
    // The first run changes one file, the second both.
    let script = format!("append tries.txt x\n{script}");
    let id = add(&world, "fix", &script, &["--check", "test -f tries.txt", "--check", check]);
    world.fleet.ok(&["run", "--until-idle"]);
    let task = &world.fleet.json(&["task", "show", &id]);
    assert_eq!(
        (&task["state"], &task["attempts"], &task["failures"]),
        (&"done".into(), &2.into(), &0.into())
    );
    assert_eq!(task["check_failures"], 1, "{task:#}");
    assert_eq!(task["checks"][1][0], "sh", "{task:#}");
    let runs = world.fleet.json(&["task", "show", &id])["runs"].clone();
    assert_eq!(runs[0]["reason"], "checks_failed", "{runs:#}");
    let detail = runs[0]["detail"].as_str().unwrap();
    assert!(detail.contains("ended with exit status 1") && detail.ends_with("the build says no"), "{detail}");

    let result = world.fleet.json(&["show", &id])["result"].clone();
    let receipts = result["checks"].as_array().unwrap();
    assert_eq!(receipts.len(), 2, "{result:#}");
    assert_eq!(receipts[1]["exit"], serde_json::json!({ "code": 0 }));
    assert_eq!(receipts[1]["output_tail"], "the build says no");
    let why = world.fleet.ok(&["why", &id]);
    assert!(why.contains("check: test -f tries.txt passed ("), "{why}");
}

#[test]
fn a_task_fails_when_its_work_has_gone_back_often_enough() {
    let world = world();
    let hang = "sh -c 'sleep 600 & sleep 600'";
    world.fleet.ok(&["config", "set", "workspaces.check_time", "1s"]);
    let stuck = add(&world, "stuck", "append a.txt x", &["--check", hang, "--check-retries", "1"]);
    let flood = "sh -c 'yes no | head -c 3000000; kill -KILL $$'";
    let loud = add(&world, "loud", "append b.txt x", &["--check", flood, "--check-retries", "0"]);
    world.fleet.ok(&["run", "--until-idle"]);
    let story = |id: &str| {
        let why = world.fleet.json(&["why", id]);
        let task = world.fleet.json(&["task", "show", id]);
        assert_eq!((&why["reason"], &task["state"]), (&"checks_failed".into(), &"failed".into()), "{why:#}");
        (task["attempts"].as_i64().unwrap(), why["what"].as_str().unwrap().to_owned())
    };
    let (attempts, what) = story(&stuck);
    assert!(attempts == 2 && what.contains("the time for checks, 1s, was over"), "{attempts}: {what}");
    let (attempts, what) = story(&loud);
    assert!(attempts == 1 && what.contains("signal 9") && what.len() < 6_000, "{attempts}: {what}");
}

#[test]
fn checks_are_typed_edited_imported_and_refused() {
    let world = world();
    let wrong = |args: &[&str], why: &str| {
        let (code, message, _) = error(&world.fleet.fail(2, args));
        assert!(code == "invalid-value" && message.contains(why), "{code}: {message}");
    };
    wrong(&["task", "add", "x", "--check", "make | tee log", "--json"], "to use a shell, name it");
    wrong(&["create", "x", "-p", "x", "--detach", "--check", "", "--json"], "it is empty");
    wrong(&["task", "add", "x", "--check-retries", "21", "--json"], "at most 20");
    let id = add(&world, "one", "write a.txt x", &["--check", "make 'a b'", "--check-retries", "5"]);
    let task = |id: &str| world.fleet.json(&["task", "show", id]);
    assert_eq!(task(&id)["checks"], serde_json::json!([["make", "a b"]]));
    assert_eq!(task(&id)["retry"]["check_retries"], 5);
    let shown = world.fleet.ok(&["task", "show", &id]);
    assert!(shown.contains("make a b") && shown.contains("2, and 5 after failed checks"), "{shown}");
    world.fleet.ok(&["task", "edit", &id, "--check", "true"]);
    assert_eq!(task(&id)["checks"], serde_json::json!([["true"]]));

    let line = world.fleet.ok(&["task", "export"]);
    let exported: Value = serde_json::from_str(line.trim()).unwrap();
    assert_eq!(exported["checks"], serde_json::json!([["true"]]), "{exported:#}");
    world.fleet.ok(&["task", "edit", &id, "--clear", "checks"]);
    assert_eq!(task(&id)["checks"], serde_json::json!([]));
    let file = world.fleet.user_home().join("tasks.jsonl");
    fs::write(&file, "{\"title\": \"two\", \"checks\": [\"cargo test\", [\"make\", \"a b\"]]}\n").unwrap();
    let added = world.fleet.json(&["task", "import", file.to_str().unwrap()]);
    let two = task(added["ids"][0].as_str().unwrap());
    assert_eq!(two["checks"], serde_json::json!([["cargo", "test"], ["make", "a b"]]));
    assert_eq!(two["retry"]["check_retries"], 2, "as configured");
}

#[test]
fn what_is_kept_says_what_came_of_its_checks() {
    let world = world();
    let prompt = "Do it\n\n```demo\nappend a.txt x\n```";
    let launch = ["fanout", "2", "try", "-p", prompt, "-a", "demo", "--detach"];
    let checks = ["--check", "test -f a.txt", "--check", "test -f b.txt", "--check-retries", "0"];
    world.fleet.ok(&[&launch[..], &checks].concat());
    world.fleet.ok(&["run", "--until-idle"]);
    let compared = world.fleet.ok(&["compare", "try-A", "try-B", "--stat"]);
    assert!(compared.contains("1 failed"), "{compared}");
    let kept = world.fleet.ok(&["keep", "try-A", "--yes"]);
    assert!(kept.contains("1 of 2 checks failed"), "{kept}");
}

#[test]
fn an_agent_cannot_choose_checks() {
    let world = world();
    let agent = "#!/bin/sh\ncat > /dev/null\n\"$FLEET_BIN\" task add x --check 'touch /tmp/x' --json > told 2>&1\n\
                 \"$FLEET_BIN\" task edit \"$FLEET_TASK\" --clear checks --json >> told 2>&1\n";
    let program = world.fleet.user_home().join("agent.sh");
    fs::write(&program, agent).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&program, mode).unwrap();
    world.fleet.ok(&["config", "set", "agents.mine.program", program.to_str().unwrap()]);
    let own = ["task", "add", "-q", "Do it", "--agent", "mine", "--branch", "mine", "--check", "true"];
    world.fleet.ok(&own);
    world.fleet.ok(&["run", "--until-idle"]);
    let told = world.repo.git(&["show", "mine:told"]);
    assert_eq!(told.matches("only people do").count(), 2, "{told}");
    assert_eq!(world.fleet.json(&["task", "list", "--all"])["tasks"].as_array().unwrap().len(), 1);
}
