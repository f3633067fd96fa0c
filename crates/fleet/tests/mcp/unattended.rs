//! Work that nobody takes up: no runner is up, and none may be started.

use std::process::Command;
use std::time::Duration;

use fleet_testkit::wait_until;
use serde_json::json;

use crate::stage::Stage;

#[test]
fn whoever_queues_work_is_told_that_nobody_does_it() {
    let stage = Stage::quiet();
    let mut client = stage.client();
    let says = |text: &serde_json::Value| {
        let text = text.as_str().unwrap_or_default();
        assert!(text.contains("it will not start") && text.contains("`fleet start`"), "{text:?}");
    };
    let worker = client.call("create_worker", stage.order("say hi"));
    says(&worker["heartbeat_message"]);
    let told =
        client.call("prompt_worker", json!({"worker_id": worker["worker_id"], "prompt": "Say it twice"}));
    says(&told["heartbeat_message"]);
    let task = client.call("create_task", json!({"repo_path": stage.path(), "title": "Write the manual"}));
    says(&task["note"]);
    let order = json!({"task_id": task["task"]["task_id"], "priority": 5, "start": "queue"});
    says(&client.call("assign_task", order)["note"]);
    let order = json!({"task_id": task["task"]["task_id"], "priority": 4});
    assert_eq!(client.call("assign_task", order)["note"], json!(null), "it did not ask to start anything");
    let workflow = json!({"repo_path": stage.path(), "workflow": "compete-judge", "executor": "demo", "task_prompt": "Greet"});
    says(&client.call("create_workflow", workflow)["note"]);
    let health = client.call("healthcheck", json!({}));
    assert_eq!((&health["ok"], &health["autostart"]), (&json!(false), &json!(false)), "{health}");
    assert!(health["problems"].to_string().contains("`fleet start` starts one"), "{health}");
    assert_eq!(client.call("check_agent_status", json!({}))["autostart"], json!(false));
}

#[test]
fn nothing_is_said_where_somebody_does_it() {
    let stage = Stage::new();
    let mut client = stage.client();
    let health = client.call("healthcheck", json!({}));
    assert_eq!((&health["runner_up"], &health["autostart"]), (&json!(false), &json!(true)), "{health}");
    assert!(!health["problems"].to_string().contains("runner"), "{health}");
    let worker = client.call("create_worker", stage.order("say hi"));
    assert!(!worker["heartbeat_message"].to_string().contains("runner"), "{worker}");
    let task = client
        .call("create_task", json!({"repo_path": stage.path(), "title": "Write the manual", "hold": true}));
    assert_eq!(task["note"], json!(null), "{task}");
}

#[test]
fn a_runner_that_was_killed_is_started_again_by_whoever_looks() {
    let stage = Stage::new();
    let quiet = stage.fleet.env("FLEET_AUTOSTART", "false").cwd(stage.repo.path());
    let pid = stage.fleet.json(&["start"])["runner"]["pid"].to_string();
    assert!(Command::new("kill").args(["-KILL", &pid]).status().unwrap().success());
    let added = quiet.json(&["task", "add", "Greet", "-d", "```demo\nwrite a x\n```"]);
    let id = added["id"].as_str().unwrap();
    let mut client = stage.client();
    client.call("list_workers", json!({}));
    let is_done = || quiet.json(&["task", "show", id])["state"] == "done";
    wait_until(Duration::from_mins(1), "the runner does it", is_done);
}
