//! What single fields of answers mean, where that is easily got wrong.

use std::time::Duration;

use fleet_testkit::mcp_client::McpClient;
use fleet_testkit::wait_until;
use serde_json::{Value, json};

use crate::stage::Stage;

/// For slow machines; it comes within seconds.
const SOON: Duration = Duration::from_mins(1);

fn look(client: &mut McpClient, id: &str) -> Value {
    client.call("get_worker_status", json!({"worker_id": id}))
}

/// A workflow of one stage that plays a script.
fn workflow(stage: &Stage, client: &mut McpClient, script: &str, seconds: u64) -> String {
    let play = json!({"name": "a", "executor": "demo", "prompt_template": format!("```demo\n{script}\n```")});
    let order = json!({
        "repo_path": stage.path(), "name": "play", "task_prompt": "x", "stages": [play], "timeout_seconds": seconds,
    });
    client.call("create_workflow", order)["workflow_id"].as_str().unwrap().to_owned()
}

#[test]
fn a_silent_agent_lives_as_long_as_its_keeper_says_so() {
    let mut stage = Stage::new();
    stage.fleet = stage.fleet.env("FLEET_RUNNER_LEASE_SECONDS", "2");
    let mut client = stage.client();
    let id = stage.worker(&mut client, "hang");
    let mut last = Value::Null;
    wait_until(SOON, "a heartbeat long after the last word", || {
        last = look(&mut client, &id);
        let moment = |field: &str| last[field].as_f64();
        let said = moment("last_activity_at").or_else(|| moment("started_at"));
        moment("last_heartbeat_at").zip(said).is_some_and(|(heartbeat, said)| heartbeat > said + 3.0)
    });
    assert_ne!(last["heartbeat_age"], "-", "{last}");
    let ended = client.call("cancel_worker", json!({"worker_id": id}));
    assert_eq!(ended["last_heartbeat_at"], ended["ended_at"], "{ended}");
}

#[test]
fn who_was_cancelled_before_its_start_has_an_end() {
    let stage = Stage::quiet();
    let mut client = stage.client();
    let id = stage.worker(&mut client, "say hi");
    let ended = client.call("cancel_worker", json!({"worker_id": id}));
    assert!(ended["ended_at"].as_f64() >= ended["created_at"].as_f64(), "{ended}");
    assert_eq!((&ended["started_at"], &ended["error_message"]), (&Value::Null, &json!("Cancelled by user")));
}

#[test]
fn who_was_cancelled_between_two_attempts_did_not_fail() {
    let mut stage = Stage::new();
    stage.fleet = stage.fleet.env("FLEET_TASKS_RETRIES", "5");
    let mut client = stage.client();
    let id = stage.worker(&mut client, "exit 3");
    wait_until(SOON, "it waits to be tried again", || look(&mut client, &id)["state"] == "scheduled");
    let before = look(&mut client, &id);
    let ended = client.call("cancel_worker", json!({"worker_id": id}));
    assert_eq!(
        (&ended["status"], &ended["error_message"]),
        (&json!("cancelled"), &json!("Cancelled by user"))
    );
    assert!(ended["ended_at"].as_f64() >= before["started_at"].as_f64(), "{ended}");
}

#[test]
fn a_stage_whose_time_was_over_is_told_from_one_that_failed() {
    let stage = Stage::new();
    let mut client = stage.client();
    let id = workflow(&stage, &mut client, "hang", 1);
    let waited = client.call("wait", json!({"workflow_ids": [id]}));
    let seen = &waited["workflows"][0]["stage_summary"][0];
    assert_eq!(
        (&seen["status"], &seen["status_label"]),
        (&json!("timed_out"), &json!("[TIMED OUT]")),
        "{seen}"
    );
    let result = client.call("collect_workflow_result", json!({"workflow_id": id}));
    assert_eq!(result["final_results"][0]["status"], "timed_out", "{result}");
}

#[test]
fn what_a_workflow_used_is_the_same_wherever_it_is_shown() {
    let stage = Stage::new();
    let mut client = stage.client();
    let id = workflow(&stage, &mut client, "usage 10 5 0.002\nwrite a.txt hello", 600);
    let waited = client.call("wait", json!({"workflow_ids": [id]}));
    let worker = waited["workflows"][0]["stage_summary"][0]["worker_id"].clone();
    client.call(
        "prompt_worker",
        json!({"worker_id": worker, "prompt": "```demo\nusage 7 3 0.001\nappend a.txt more\n```"}),
    );
    let waited = client.call("wait", json!({"workflow_ids": [id], "worker_ids": [worker]}));
    let seen = client.call("get_workflow_status", json!({"workflow_id": id}));
    assert!(seen["input_tokens"].as_u64() > Some(10), "both attempts count: {seen}");
    let listed = client.call("list_workflows", json!({}));
    let collected = client.call("collect_workflow_result", json!({"workflow_id": id}));
    for other in [&waited["workflows"][0], &listed["workflows"][0], &collected] {
        for field in ["input_tokens", "output_tokens", "cost_usd"] {
            assert_eq!(other[field], seen[field], "{field}: {other}");
        }
    }
}

#[test]
fn what_could_not_be_removed_is_an_error_of_the_cleaning() {
    let stage = Stage::new();
    let mut client = stage.client();
    let id = workflow(&stage, &mut client, "write a.txt hello", 600);
    client.call("wait", json!({"workflow_ids": [id]}));
    let trash = stage.fleet.home().join("worktrees").join(".trash");
    wait_until(SOON, "nothing is thrown away any more", || {
        let _ = std::fs::remove_dir_all(&trash);
        std::fs::write(&trash, "in the way").is_ok()
    });
    let order = json!({"workflow_id": id, "discard_unlanded": true});
    let done = client.call("cleanup_workflow", order.clone());
    assert_eq!(
        (done["errors"].as_array().unwrap().len(), &done["workflow_removed"]),
        (1, &json!(false)),
        "{done}"
    );
    std::fs::remove_file(&trash).unwrap();
    let done = client.call("cleanup_workflow", order);
    assert_eq!((&done["errors"], &done["workflow_removed"]), (&json!([]), &json!(true)), "{done}");
}
