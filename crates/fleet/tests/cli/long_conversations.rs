//! Conversations that fill the context of their model, with real runs of the demo agent.

use std::fs;

use super::support::World;

/// A world in which no runner starts by itself, and a task that says this.
fn world(script: &str) -> (World, String) {
    let mut world = World::sqlite();
    world.fleet = world.fleet.env("FLEET_AUTOSTART", "false");
    world.fleet.ok(&["config", "set", "agents.demo.context_limit", "1000"]);
    let line = serde_json::json!({
        "title": "Long", "agent": "demo", "branch": "long", "retry": { "retries": 0, "backoff_seconds": 0 },
        "description": format!("Do it.\n\n```demo\n{script}\n```\n"),
    });
    let file = world.fleet.user_home().join("task.jsonl");
    fs::write(&file, line.to_string()).unwrap();
    let added = world.fleet.json(&["task", "import", file.to_str().unwrap()]);
    let id = added["ids"][0].as_str().unwrap().to_owned();
    (world, id)
}

#[test]
fn a_full_conversation_continues_in_a_new_one_with_its_work() {
    let signs = tempfile::tempdir().unwrap();
    let sign = |name: &str| signs.path().join(name).display().to_string();
    let script = format!(
        "write a.txt one\nusage 100 10 0\nonce \"{}\" usage 950 10 0\nonce \"{}\" hang\nwrite b.txt two",
        sign("used"),
        sign("hung")
    );
    let (world, id) = world(&script);
    world.fleet.ok(&["run", "--until-idle"]);
    let task = world.fleet.json(&["task", "show", &id]);
    assert_eq!((&task["state"], &task["attempts"]), (&"done".into(), &2.into()), "{task:#}");
    assert_eq!((&task["context_restarts"], &task["failures"]), (&1.into(), &0.into()));
    let runs = task["runs"].as_array().unwrap();
    assert_eq!(runs[0]["reason"], "context_pressure");
    assert!(runs[0]["detail"].as_str().unwrap().contains("950 of 1000 tokens, 95 %"), "{runs:#?}");
    assert_ne!(runs[0]["session"], runs[1]["session"], "the conversation is a new one");
    for file in ["a.txt", "b.txt"] {
        world.repo.git(&["show", &format!("long:{file}")]);
    }
}

#[test]
fn it_happens_so_often_and_no_more() {
    let (world, id) = world("append a.txt x\nusage 950 10 0\nhang");
    world.fleet.ok(&["config", "set", "limits.context_restarts", "2"]);
    world.fleet.ok(&["run", "--until-idle"]);
    let task = world.fleet.json(&["task", "show", &id]);
    assert_eq!((&task["state"], &task["context_restarts"]), (&"failed".into(), &3.into()), "{task:#}");
    let why = world.fleet.ok(&["why", &id]);
    assert!(why.contains("950 of 1000 tokens") && why.contains("limits.context_restarts"), "{why}");
    assert!(world.fleet.ok(&["task", "show", &id]).contains("3 with a full conversation"));
}
