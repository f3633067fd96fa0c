//! Workflows by the tools: from their making to their cleaning up.

use std::time::Duration;

use fleet_testkit::mcp_client::McpClient;
use fleet_testkit::vault::snapshots;
use serde_json::{Value, json};

use crate::stage::Stage;

/// All that a client may rely on finding in a workflow, and in each of its stages.
const FIELDS: [&str; 11] = [
    "workflow_id",
    "name",
    "status",
    "repo_path",
    "stage_summary",
    "created_at",
    "completed_at",
    "error_message",
    "elapsed",
    "progress",
    "summary_line",
];
const STAGE_FIELDS: [&str; 8] =
    ["index", "name", "executor", "status", "worker_id", "status_label", "elapsed", "model"];

/// A stage that plays a script.
pub(crate) fn stage(name: &str, script: &str) -> Value {
    json!({"name": name, "executor": "demo", "prompt_template": format!("Play.\n\n```demo\n{script}\n```\n")})
}

/// The same with further fields.
pub(crate) fn with(mut stage: Value, more: &Value) -> Value {
    for (name, value) in more.as_object().unwrap() {
        stage[name] = value.clone();
    }
    stage
}

pub(crate) fn order(play: &Stage, stages: &Value) -> Value {
    json!({"repo_path": play.path(), "name": "play", "task_prompt": "Greet people", "stages": stages})
}

#[track_caller]
fn start(client: &mut McpClient, order: Value) -> String {
    let made = client.call("create_workflow", order);
    assert_eq!(made["status"], "running", "{made}");
    made["workflow_id"].as_str().unwrap().to_owned()
}

/// Where each stage stands.
fn standing(workflow: &Value) -> String {
    let stages = workflow["stage_summary"].as_array().unwrap().iter();
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    stages
        .map(|stage| format!("{} {}", word(&stage["name"]), word(&stage["status"])))
        .collect::<Vec<_>>()
        .join(", ")
}

#[test]
fn write_review_refine_from_its_making_to_its_cleaning_up() {
    let play = Stage::new();
    let mut client = play.client();
    let verdict = r#"report {"summary": "No goodbye.", "status": "completed_no_changes", "next_steps": ["Say goodbye."], "verdict": {"approve": false}}"#;
    let mut refine = stage("refine", "append a.txt goodbye");
    refine["prompt_template"] = json!(format!(
        "{{review.summary}} {{stage_1_next_steps}}\n{}",
        refine["prompt_template"].as_str().unwrap()
    ));
    let stages = json!([
        stage("write", "write a.txt hello\nusage 10 5 0.002"),
        with(
            stage("review", verdict),
            &json!({"depends_on": [0], "worktree_strategy": "inherit", "read_only": true, "returns": "verdict"}),
        ),
        with(
            refine,
            &json!({"needs": ["review"], "worktree_strategy": "inherit", "when": "review.approve == false"}),
        ),
    ]);
    let made = client.call("create_workflow", order(&play, &stages));
    for field in FIELDS {
        assert!(made.get(field).is_some(), "{field} is missing: {made}");
    }
    for field in STAGE_FIELDS {
        assert!(made["stage_summary"][0].get(field).is_some(), "{field} is missing: {made}");
    }
    let id = made["workflow_id"].as_str().unwrap();
    let waited = client.call("wait", json!({"workflow_ids": [id]}));
    assert_eq!((&waited["done"], &waited["finished"]), (&json!(true), &json!([id])), "{waited}");
    assert_eq!(waited["summary"], "1 workflows: 1 ok", "{waited}");
    assert!(client.told().any(|told| told["method"] == "notifications/progress"), "it was told of progress");

    let seen = client.call("get_workflow_status", json!({"workflow_id": "play"}));
    assert_eq!(standing(&seen), "write succeeded, review succeeded, refine succeeded", "{seen}");
    assert_eq!(seen["progress"], "3/3 stages complete (3 done)");
    assert!(seen["summary_line"].as_str().unwrap().starts_with("[OK] play"), "{seen}");
    assert_eq!((&seen["input_tokens"], &seen["cost_usd"]), (&json!(10), &json!(0.002)));
    let summary = &seen["stage_summary"];
    assert_eq!((&summary[1]["index"], &summary[1]["needs"]), (&json!(1), &json!(["write"])));
    let worker = client.call("get_worker_status", json!({"worker_id": summary[2]["worker_id"]}));
    assert_eq!(worker["status"], "succeeded", "a stage is a worker");

    let result = client.call(
        "collect_workflow_result",
        json!({"workflow_id": id, "include_all_stages": true, "include_logs": true}),
    );
    assert_eq!(
        (&result["final_results"][0]["name"], &result["final_results"][0]["index"]),
        (&json!("refine"), &json!(2))
    );
    assert_eq!(result["final_result"]["worker_id"], summary[2]["worker_id"], "{result}");
    assert_eq!(result["final_result"]["result"]["files_changed"], json!(["a.txt"]), "{result}");
    assert_eq!(result["verdict"], json!({"approve": false}), "{result}");
    assert_eq!(result["stage_results"].as_array().unwrap().len(), 3);
    assert!(
        result["stage_results"][0]["result"]["stdout_tail"].as_str().unwrap().contains("a.txt"),
        "{result}"
    );
    assert_eq!(result["branches"], json!([summary[2]["branch_name"]]));
    let branch = result["branches"][0].as_str().unwrap();
    assert_eq!(play.repo.git(&["show", &format!("{branch}:a.txt")]), "hello\ngoodbye");

    let clean = client.call("cleanup_workflow", json!({"workflow_id": id}));
    assert_eq!((&clean["workflow_removed"], &clean["errors"]), (&json!(false), &json!([])), "{clean}");
    assert!(clean["kept"].as_array().unwrap().iter().any(|kept| kept["branch_name"] == branch), "{clean}");
    play.repo.git(&["merge", "--quiet", "--ff-only", branch]);
    let clean = client.call("cleanup_workflow", json!({"workflow_id": id}));
    assert_eq!((&clean["workflow_removed"], &clean["kept"]), (&json!(true), &json!([])), "{clean}");
    assert!(clean["stages_cleaned"].as_u64().unwrap() > 0, "{clean}");
    let (code, message, hint) = client.refused("get_workflow_status", json!({"workflow_id": id}));
    assert_eq!(code, "workflow-not-found", "{message}");
    assert!(hint.contains("list_workflows"), "{hint}");
}

#[test]
fn the_winner_of_a_contest_is_named_with_its_branch() {
    let play = Stage::new();
    let mut client = play.client();
    let verdict = r#"report {"summary": "Shorter.", "status": "completed_no_changes", "verdict": {"winner": "beta", "scores": [{"name": "beta", "score": 7}]}}"#;
    let stages = json!([
        stage("alpha", "write a.txt alpha"),
        with(
            stage("judge", verdict),
            &json!({"needs": ["alpha", "beta"], "read_only": true, "returns": "verdict"}),
        ),
        stage("beta", "write a.txt beta"),
    ]);
    let id = start(&mut client, order(&play, &stages));
    client.call("wait", json!({"workflow_ids": [id]}));
    let result = client.call("collect_workflow_result", json!({"workflow_id": id}));
    assert_eq!(
        result["final_results"][0]["name"], "judge",
        "the last stage, not the highest number: {result}"
    );
    assert_eq!((&result["winner"]["stage"], &result["winner"]["by"]), (&json!("beta"), &json!("judge")));
    assert_eq!(result["branches"], json!([result["winner"]["branch"]]));
    assert_eq!(result["verdict"]["winner"], "beta");
    assert!(result.get("stage_results").is_none());
    let discarded = client.call("cleanup_workflow", json!({"workflow_id": id, "discard_unlanded": true}));
    assert_eq!(
        (&discarded["workflow_removed"], &discarded["kept"]),
        (&json!(true), &json!([])),
        "{discarded}"
    );
    assert!(!snapshots(play.fleet.home()).is_empty(), "kept for undo");
}

#[test]
fn a_ready_workflow_and_a_list_of_pieces_run_by_name() {
    let play = Stage::new();
    let mut client = play.client();
    let ready = json!({
        "repo_path": play.path(),
        "workflow": "write-review-refine",
        "task_prompt": "Greet people",
        "executor": "demo",
    });
    let ready = start(&mut client, ready);
    let pieces = json!([
        with(stage("each", "write {item}.txt {params.word}"), &json!({"foreach": ["a", "b"]})),
        with(
            stage("join", "write joined.txt x"),
            &json!({"depends_on": [0], "worktree_strategy": "inherit", "on_failure": "continue"}),
        ),
    ]);
    let mut spread = order(&play, &pieces);
    spread["params"] = json!({"word": "hello"});
    let spread = start(&mut client, spread);
    let waited = client.call("wait", json!({"workflow_ids": [ready, spread], "until": "all"}));
    assert_eq!(waited["summary"], "2 workflows: 2 ok", "{waited}");
    assert_eq!(standing(&waited["workflows"][1]), "each-1 succeeded, each-2 succeeded, join succeeded");
    assert_eq!(waited["workflows"][1]["stage_summary"][1]["item"], "b");
    assert_eq!(standing(&waited["workflows"][0]), "implement succeeded, review succeeded, refine skipped");

    let list = client.call("list_workflows", json!({}));
    let ids: Vec<&str> = list["workflows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["workflow_id"].as_str().unwrap())
        .collect();
    assert_eq!((ids, &list["next_cursor"]), (vec![&*spread, &*ready], &Value::Null));
    assert_eq!((&list["count"], &list["summary"]), (&json!(2), &json!("2 workflows: 2 ok")));
    let page = client.call("list_workflows", json!({"limit": 1, "statuses": ["succeeded", "failed"]}));
    let rest = client.call("list_workflows", json!({"cursor": page["next_cursor"]}));
    assert_eq!(
        (&page["workflows"][0]["workflow_id"], &rest["workflows"][0]["workflow_id"]),
        (&json!(spread), &json!(ready))
    );
    assert_eq!(client.call("list_workflows", json!({"statuses": ["pending"]}))["count"], 0);
    assert_eq!(client.call("list_workflows", json!({"statuses": ["running"]}))["count"], 0);
}

#[test]
fn a_workflow_that_is_cancelled_leaves_no_process() {
    let play = Stage::new();
    let mut client = play.client();
    let (child, sign) = (play.repo.path().join(".git/child"), play.repo.path().join(".git/sign"));
    let deaf = format!(
        "write a.txt x\nignore TERM\nfork session double ignore pid={0} 5m\nwait-for {0}\ntouch {1}\nhang",
        child.display(),
        sign.display()
    );
    let stages = json!([
        stage("quick", "write q.txt x"),
        with(stage("deaf", &deaf), &json!({"depends_on": [0]})),
        with(stage("after", "write b.txt x"), &json!({"depends_on": [1]})),
    ]);
    let id = start(&mut client, order(&play, &stages));
    fleet_testkit::wait_until(Duration::from_mins(1), "it is at work", || sign.exists());
    let pid = std::fs::read_to_string(&child).unwrap();
    let now = client.call("get_workflow_status", json!({"workflow_id": id}));
    assert_eq!(standing(&now), "quick succeeded, deaf running, after pending", "{now}");
    let (code, message, _) = client.refused("cleanup_workflow", json!({"workflow_id": id}));
    assert_eq!(code, "illegal-transition", "{message}");
    let timed = client.call("wait", json!({"workflow_ids": [id], "timeout_seconds": 0}));
    assert_eq!((&timed["timed_out"], &timed["pending"]), (&json!(true), &json!([id])), "{timed}");

    let ended = client.call("cancel_workflow", json!({"workflow_id": id}));
    assert_eq!(
        (&ended["status"], &ended["error_message"]),
        (&json!("cancelled"), &json!("Cancelled by user")),
        "{ended}"
    );
    assert_eq!((&ended["stopped"], &ended["unstarted"]), (&json!(["deaf"]), &json!(["after"])));
    assert_eq!(standing(&ended), "quick succeeded, deaf cancelled, after cancelled");
    assert!(!is_alive(&pid), "what it left behind has ended, too");
    let (code, message, hint) = client.refused("cancel_workflow", json!({"workflow_id": id}));
    assert_eq!(code, "illegal-transition", "{message}");
    assert!(hint.contains("collect_workflow_result"), "{hint}");
    let result = client.call("collect_workflow_result", json!({"workflow_id": id}));
    assert_eq!(
        (&result["final_results"][0]["name"], &result["final_result"]),
        (&json!("after"), &Value::Null)
    );
}

fn is_alive(pid: &str) -> bool {
    let output = std::process::Command::new("ps").args(["-o", "stat=", "-p", pid.trim()]).output().unwrap();
    let state = String::from_utf8(output.stdout).unwrap();
    // One that ended is there until somebody asks for its end.
    !state.trim().is_empty() && !state.trim().starts_with('Z')
}

#[test]
fn a_stage_that_is_cancelled_as_a_worker_is_noticed() {
    let play = Stage::new();
    let mut client = play.client();
    let sign = play.repo.path().join(".git/sign");
    let stages = json!([
        stage("slow", &format!("touch {}\nhang", sign.display())),
        with(stage("after", "write b.txt x"), &json!({"depends_on": [0]})),
    ]);
    let id = start(&mut client, order(&play, &stages));
    fleet_testkit::wait_until(Duration::from_mins(1), "it is at work", || sign.exists());
    let now = client.call("get_workflow_status", json!({"workflow_id": id}));
    client.call("cancel_worker", json!({"worker_id": now["stage_summary"][0]["worker_id"]}));
    let waited = client
        .call("wait", json!({"workflow_ids": [id], "worker_ids": [now["stage_summary"][0]["worker_id"]]}));
    assert_eq!(waited["workflows"][0]["status"], "failed", "{waited}");
    assert_eq!(waited["summary"], "1 workers: 1 cancelled; 1 workflows: 1 failed");
    assert_eq!(standing(&waited["workflows"][0]), "slow cancelled, after skipped");
}
