//! Every refusal says what is wrong, where, and what would be right.

use serde_json::{Value, json};

use crate::stage::Stage;

#[test]
fn what_create_worker_does_not_take() {
    let stage = Stage::quiet();
    let mut client = stage.client();
    let plain = std::env::temp_dir();
    for (name, value, code, message, hint) in [
        (
            "repo_path",
            json!("here"),
            "not-a-repository",
            "repo_path: Repo path does not exist: ",
            "absolute path",
        ),
        (
            "repo_path",
            json!("/no/such/place"),
            "not-a-repository",
            "Repo path does not exist: /no/such/place",
            "absolute path",
        ),
        ("repo_path", json!(plain), "not-a-repository", "repo_path: Not a git repository: ", "absolute path"),
        ("executor", json!("dmeo"), "invalid-value", "executor: there is no agent `dmeo`", "`demo`"),
        ("base_ref", json!("no-such-branch"), "invalid-value", "base_ref: ", ""),
        ("base_ref", json!("--upload-pack=x"), "invalid-value", "base_ref: ", ""),
        ("metadata", json!({"n": ["x".repeat(5000)]}), "invalid-value", "metadata: ", ""),
        ("extra_args", json!(["--yolo"]), "invalid-value", "extra_args: ", "agents.demo.task_args"),
        ("reasoning_effort", json!("very \"high\""), "invalid-value", "reasoning_effort: ", ""),
        ("parent_worker_id", json!("t0nobody"), "task-not-found", "parent_worker_id: ", "list_workers"),
        ("timeout_seconds", json!(-1), "invalid-value", "`timeout_seconds` is -1", ""),
        ("prompt", json!(7), "invalid-value", "`prompt` must be a string, not 7", ""),
        ("promt", json!("x"), "invalid-value", "there is no argument \"promt\"", "did you mean `prompt`?"),
    ] {
        let mut order = stage.order("say hi");
        order[name] = value;
        let (got, said, hints) = client.refused("create_worker", order);
        assert_eq!(got, code, "{name}: {said}");
        assert!(said.contains(message), "{name}: {said}");
        assert!(hints.contains(hint), "{name}: {said}: {hints}");
    }
    assert_eq!(client.call("list_workers", json!({}))["count"], 0, "nothing was made");
}

#[test]
fn what_the_other_tools_do_not_take() {
    let stage = Stage::quiet();
    let mut client = stage.client();
    let id = stage.worker(&mut client, "say hi");
    for (tool, args, code, message) in [
        (
            "get_worker_status",
            json!({"worker_id": "t0nobody"}),
            "task-not-found",
            "Worker not found: t0nobody",
        ),
        ("get_worker_status", json!({}), "invalid-value", "`worker_id` is missing"),
        ("collect_worker_result", json!({"worker_id": "nobody"}), "task-not-found", "Worker not found"),
        ("list_workers", json!({"cursor": "x"}), "id-invalid", "x"),
        ("wait", json!({"worker_ids": []}), "invalid-value", "between 1 and"),
        ("wait", json!({"worker_ids": id}), "invalid-value", "`worker_ids` must be an array"),
        (
            "wait",
            json!({"worker_ids": [id], "until": "every"}),
            "invalid-value",
            "`until` cannot be \"every\"",
        ),
        ("get_diff", json!({"worker_id": id}), "run-not-found", "has not been started yet"),
        ("get_diff", json!({"worker_id": id, "cursor": "x"}), "run-not-found", "has not been started yet"),
        (
            "cleanup_worker",
            json!({"worker_id": id}),
            "illegal-transition",
            "Cannot cleanup non-terminal worker",
        ),
        ("prompt_worker", json!({"worker_id": id, "prompt": " "}), "invalid-value", "prompt: it is empty"),
        (
            "cleanup_worker",
            json!({"worker_id": id, "dry_run": true}),
            "invalid-value",
            "no argument \"dry_run\"",
        ),
    ] {
        let (got, said, _) = client.refused(tool, args.clone());
        assert_eq!(got, code, "{tool} {args}: {said}");
        assert!(said.contains(message), "{tool} {args}: {said}");
    }
    let answer = client.ask("tools/call", json!({"name": "get_dif", "arguments": {}}));
    assert_eq!((&answer["error"]["code"], &answer["result"]), (&json!(-32602), &Value::Null));
    assert!(answer["error"]["message"].as_str().unwrap().contains("did you mean get_diff?"), "{answer}");
}

#[test]
fn lines_that_are_no_messages_do_no_harm() {
    let stage = Stage::quiet();
    let mut client = stage.client();
    for line in [
        "",
        "{",
        "not json",
        "[]",
        "\u{feff}{}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"no/such\"}",
        "\u{0}\u{1}",
    ] {
        client.raw(line);
    }
    let answer = client.ask("no/such/method", json!({}));
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
    assert_eq!(client.call("list_workers", json!({}))["count"], 0);
    assert!(client.close().success());
}

#[test]
fn a_client_that_does_not_say_hello_is_told_from_one_that_leaves() {
    let stage = Stage::quiet();
    assert_eq!(stage.fleet.stdin("").run(&["mcp"]).code, 0, "it did not want anything");
    let call = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}\n";
    let ended = stage.fleet.stdin(call).run(&["mcp"]);
    assert!(ended.code != 0 && ended.stderr.contains("did not initialize"), "{ended:?}");
}

#[test]
fn a_store_that_is_out_of_order_is_told_and_the_server_goes_on() {
    let stage = Stage::quiet();
    std::fs::write(stage.fleet.home().join("fleet.db"), "this is no database, and has been so for long")
        .unwrap();
    let mut client = stage.client();
    let (code, message, _) = client.refused("list_workers", json!({}));
    assert_eq!(code, "store-corrupt", "{message}");
    let health = client.call("healthcheck", json!({}));
    assert_eq!(health["ok"], false);
    assert!(health["problems"][0].as_str().unwrap().contains("store-corrupt"), "{health}");
    std::fs::remove_file(stage.fleet.home().join("fleet.db")).unwrap();
    assert_eq!(client.call("list_workers", json!({}))["count"], 0, "as soon as it is mended");
}
