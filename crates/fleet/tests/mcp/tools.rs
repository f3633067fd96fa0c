//! Every tool at its work.

use fleet_testkit::vault::snapshots;
use serde_json::{Value, json};

use crate::stage::Stage;

/// All that a client may rely on finding in a worker.
const FIELDS: [&str; 33] = [
    "worker_id",
    "task_name",
    "status",
    "repo_path",
    "branch_name",
    "worktree_path",
    "worker_dir",
    "model",
    "executor",
    "profile",
    "created_at",
    "started_at",
    "ended_at",
    "last_heartbeat_at",
    "last_activity_at",
    "timeout_seconds",
    "pid",
    "exit_code",
    "retry_count",
    "tags",
    "metadata",
    "error_message",
    "heartbeat_message",
    "prompt_path",
    "result_json_path",
    "stdout_path",
    "stderr_path",
    "meta_path",
    "elapsed",
    "heartbeat_age",
    "last_output_age",
    "status_label",
    "summary_line",
];

#[test]
fn a_worker_from_its_order_to_its_cleaning_up() {
    let stage = Stage::new();
    let mut client = stage.client();
    let mut order = stage.order("say hello\nwrite b.txt hi\nusage 10 5 0.002");
    for (name, value) in [
        ("tags", json!(["ui", "fast"])),
        ("metadata", json!({"ticket": "A-1", "round": 2})),
        ("profile", json!("careful")),
        ("timeout_seconds", json!(120)),
        ("base_ref", json!("main")),
    ] {
        order[name] = value;
    }
    let worker = client.call("create_worker", order);
    for field in FIELDS {
        assert!(worker.get(field).is_some(), "{field} is missing: {worker}");
    }
    assert!(["pending", "running"].contains(&worker["status"].as_str().unwrap()), "{worker}");
    assert_eq!((&worker["executor"], &worker["model"]), (&json!("demo"), &json!("default")));
    assert_eq!((&worker["tags"], &worker["profile"]), (&json!(["ui", "fast"]), &json!("careful")));
    assert_eq!(worker["metadata"], json!({"ticket": "A-1", "round": 2}));
    assert_eq!((&worker["timeout_seconds"], &worker["repo_path"]), (&json!(120), &json!(stage.path())));
    let id = worker["worker_id"].as_str().unwrap();

    let waited = client.call("wait", json!({"worker_ids": [id]}));
    assert_eq!((&waited["done"], &waited["timed_out"]), (&json!(true), &json!(false)), "{waited}");
    assert_eq!((&waited["finished"], &waited["pending"]), (&json!([id]), &json!([])));
    assert_eq!(waited["summary"], "1 workers: 1 ok");
    let status = client.call("get_worker_status", json!({"worker_id": id}));
    assert_eq!(
        (&waited["workers"][0]["exit_code"], &status["exit_code"]),
        (&json!(0), &json!(0)),
        "{status}"
    );
    assert!(client.told().any(|told| told["method"] == "notifications/progress"), "it was told of progress");

    let seen = client.call("collect_worker_result", json!({"worker_id": id, "include_logs": true}));
    assert_eq!((&seen["status"], &seen["status_label"]), (&json!("succeeded"), &json!("[OK]")));
    assert_eq!(seen["result"]["files_changed"], json!(["b.txt"]));
    assert_eq!((&seen["result"]["commit_count"], &seen["exit_code"]), (&json!(1), &json!(0)));
    assert_eq!((&seen["input_tokens"], &seen["cost_usd"]), (&json!(10), &json!(0.002)));
    assert!(seen["stdout_tail"].as_str().unwrap().contains("hello"), "{seen}");
    assert_eq!(client.call("get_worker_status", json!({"worker_id": seen["run_id"]}))["worker_id"], *id);

    let stat = client.call("get_diff", json!({"worker_id": id}));
    assert_eq!((&stat["patch"], &stat["files"][0]["path"]), (&Value::Null, &json!("b.txt")), "{stat}");
    let patch = client.call("get_diff", json!({"worker_id": id, "format": "patch"}));
    assert!(patch["patch"].as_str().unwrap().contains("+hi"), "{patch}");

    let clean = client.call("cleanup_worker", json!({"worker_id": id}));
    assert_eq!(
        (&clean["branch_removed"], &clean["worker_dir_removed"]),
        (&json!(false), &json!(true)),
        "{clean}"
    );
    assert_eq!(clean["branch_kept"], seen["branch_name"], "unlanded work stays");
    stage.repo.git(&["merge", "--quiet", "--ff-only", seen["branch_name"].as_str().unwrap()]);
    let clean = client.call("cleanup_worker", json!({"worker_id": id}));
    assert_eq!((&clean["branch_removed"], &clean["branch_kept"]), (&json!(true), &Value::Null), "{clean}");
    let again = client.call("cleanup_worker", json!({"worker_id": id}));
    assert_eq!((&again["branch_removed"], &again["errors"]), (&json!(true), &json!([])), "{again}");
    assert_eq!(client.call("get_worker_status", json!({"worker_id": id}))["status"], "succeeded");
}

#[test]
fn the_files_of_a_finished_worker_can_be_had_again() {
    let stage = Stage::new();
    let mut client = stage.client();
    let id = stage.worker(&mut client, "write b.txt hi");
    client.call("wait", json!({"worker_ids": [id]}));
    let seen = client.call("collect_worker_result", json!({"worker_id": id}));
    assert_eq!(seen["worktree_path"], Value::Null, "its folder is another's: {seen}");
    let seen = client.call("collect_worker_result", json!({"worker_id": id, "worktree": true}));
    let folder = std::path::PathBuf::from(seen["worktree_path"].as_str().unwrap());
    assert_eq!(std::fs::read_to_string(folder.join("b.txt")).unwrap(), "hi\n", "{seen}");
    std::fs::write(folder.join("mine.txt"), "mine").unwrap();
    let again = client.call("get_worker_status", json!({"worker_id": id}));
    assert_eq!(again["worktree_path"], seen["worktree_path"], "it stays");
    let opened = stage.fleet.cwd(stage.repo.path()).ok(&["open", &id, "--print"]);
    assert_eq!(opened.trim(), folder.to_str().unwrap());
    client.call("cleanup_worker", json!({"worker_id": id, "discard_unlanded": true}));
    assert!(folder.join("mine.txt").exists(), "it is the user's");
    std::fs::remove_dir_all(&folder).unwrap();
    let order = json!({"worker_id": id, "worktree": true});
    let (code, message, hint) = client.refused("get_worker_status", order);
    assert_eq!(code, "not-here", "{message}");
    assert!(hint.contains("fleet undo"), "{hint}");

    let id =
        stage.worker(&mut client, "report {\"summary\": \"Fine.\", \"status\": \"completed_no_changes\"}");
    client.call("wait", json!({"worker_ids": [id]}));
    let seen = client.call("get_worker_status", json!({"worker_id": id, "worktree": true}));
    assert!(std::path::Path::new(seen["worktree_path"].as_str().unwrap()).join(".git").exists(), "{seen}");
}

#[test]
fn unlanded_work_that_is_discarded_can_be_brought_back() {
    let stage = Stage::new();
    let mut client = stage.client();
    let id = stage.worker(&mut client, "write b.txt hi");
    client.call("wait", json!({"worker_ids": [id]}));
    let clean = client.call(
        "cleanup_worker",
        json!({"worker_id": id, "remove_branch": false, "remove_worktree_dir": false}),
    );
    assert_eq!((&clean["branch_removed"], &clean["worker_dir_removed"]), (&json!(false), &json!(false)));
    let clean = client.call("cleanup_worker", json!({"worker_id": id, "discard_unlanded": true}));
    assert_eq!(clean["branch_removed"], true, "{clean}");
    assert!(!snapshots(stage.fleet.home()).is_empty(), "its commits are kept");
    let patch = client.call("get_diff", json!({"worker_id": id, "format": "patch"}));
    assert_eq!(patch["of"], "snapshot", "{patch}");
    assert!(patch["patch"].as_str().unwrap().contains("+hi"));
}

#[test]
fn a_worker_is_told_more_and_cancelled() {
    let stage = Stage::new();
    let mut client = stage.client();
    let go = stage.repo.path().join(".git/go");
    let id = stage.worker(&mut client, "write a.txt one\nhang");
    let any = client.call("wait", json!({"worker_ids": [id], "timeout_seconds": 0}));
    assert_eq!(
        (&any["done"], &any["timed_out"], &any["pending"]),
        (&json!(false), &json!(true), &json!([id]))
    );
    fleet_testkit::wait_until(std::time::Duration::from_mins(1), "it runs", || {
        client.call("get_worker_status", json!({"worker_id": id}))["status"] == "running"
    });
    let ended = client.call("cancel_worker", json!({"worker_id": id}));
    assert_eq!(
        (&ended["status"], &ended["error_message"]),
        (&json!("cancelled"), &json!("Cancelled by user"))
    );
    let (code, message, _) = client.refused("cancel_worker", json!({"worker_id": id}));
    assert_eq!(code, "illegal-transition", "{message}");

    let second = stage.worker(&mut client, &format!("write b.txt two\nwait-for {}", go.display()));
    let told = client.call("prompt_worker", json!({"worker_id": second, "prompt": "and a third"}));
    assert!(["live", "kept"].contains(&told["reception"].as_str().unwrap()), "{told}");
    std::fs::write(go, "").unwrap();
    let until = json!({"worker_ids": [id, second], "until": "all"});
    assert_eq!(client.call("wait", until)["done"], true);
}

#[test]
fn workers_are_listed_newest_first_and_page_by_page() {
    let stage = Stage::quiet();
    let mut client = stage.client();
    let mut ids: Vec<String> = (0..5).map(|_| stage.worker(&mut client, "say hi")).collect();
    ids.reverse();
    let list = |client: &mut fleet_testkit::mcp_client::McpClient, args: Value| {
        let page = client.call("list_workers", args);
        let ids: Vec<String> = page["workers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|worker| worker["worker_id"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(page["count"], ids.len());
        (ids, page["next_cursor"].clone(), page["summary"].as_str().unwrap().to_owned())
    };
    assert_eq!(list(&mut client, json!({})), (ids.clone(), Value::Null, "5 workers: 5 pending".to_owned()));
    let (first, cursor, _) = list(&mut client, json!({"limit": 3}));
    let (second, end, _) = list(&mut client, json!({"limit": 3, "cursor": cursor}));
    assert_eq!(([first, second].concat(), end), (ids.clone(), Value::Null));
    client.call("cancel_worker", json!({"worker_id": ids[0]}));
    assert_eq!(list(&mut client, json!({"statuses": ["cancelled"]})).0, ids[..1]);
    assert_eq!(list(&mut client, json!({"statuses": ["pending", "running"]})).0, ids[1..]);
    assert!(list(&mut client, json!({"statuses": ["cleanup_failed"]})).0.is_empty());
}

#[test]
fn the_fleet_and_its_agents_are_described() {
    let stage = Stage::new();
    let mut client = stage.client();
    let health = client.call("healthcheck", json!({}));
    assert_eq!(
        (&health["ok"], &health["git_found"], &health["app"]),
        (&json!(true), &json!(true), &json!("codefleet")),
        "{health}"
    );
    for field in [
        "version",
        "db_path",
        "base_dir",
        "codex_found",
        "gemini_path",
        "claude_version",
        "claude_auth_status",
        "auth_check_mode",
        "default_executor",
        "supported_models",
    ] {
        assert!(health.get(field).is_some(), "{field} is missing: {health}");
    }
    let agents = client.call("list_agents", json!({}));
    assert_eq!(agents["default_executor"], "demo");
    let demo = agents["agents"].as_array().unwrap().iter().find(|agent| agent["name"] == "demo").unwrap();
    assert_eq!((&demo["installed"], &demo["auth_status"]), (&json!(true), &json!("not_needed")));
}

#[test]
fn a_patch_comes_in_parts_that_fit_together() {
    let stage = Stage::new();
    let mut client = stage.client();
    let script: Vec<String> =
        (0..60).map(|n| format!("append big.txt line number {n:04} of a file that grows, ü\\n")).collect();
    let id = stage.worker(&mut client, &script.join("\n"));
    client.call("wait", json!({"worker_ids": [id]}));
    let whole = client.call("get_diff", json!({"worker_id": id, "format": "patch"}));
    assert_eq!(whole["next_cursor"], Value::Null, "{whole}");
    let (mut text, mut cursor, mut parts) = (String::new(), Value::Null, 0);
    loop {
        let part = client.call(
            "get_diff",
            json!({"worker_id": id, "format": "patch", "max_bytes": 1000, "cursor": cursor}),
        );
        text += part["patch"].as_str().unwrap();
        cursor = part["next_cursor"].clone();
        parts += 1;
        if cursor.is_null() {
            break;
        }
    }
    assert!(parts > 2, "{parts} parts");
    assert_eq!(text, whole["patch"].as_str().unwrap());
}
