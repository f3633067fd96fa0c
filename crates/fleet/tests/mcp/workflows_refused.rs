//! Workflows that the tools refuse.

use fleet_testkit::mcp_client::McpClient;
use serde_json::{Value, json};

use crate::stage::Stage;
use crate::workflows::{order, stage, with};

#[test]
fn a_wrong_workflow_is_refused_before_anything_starts() {
    let play = Stage::quiet();
    let mut client = play.client();
    let good = || stage("write", "write a.txt x");
    let one = |more: Value| json!([good(), with(stage("review", "say hi"), &more)]);
    for (stages, code, message, hint) in [
        (json!([]), "workflow-invalid", "stage", ""),
        (one(json!({"depends_on": [7]})), "workflow-invalid", "stages[1] (review): ", ""),
        (one(json!({"depends_on": [1]})), "workflow-invalid", "stages[1] (review): ", ""),
        (
            one(json!({"needs": ["wrte"]})),
            "workflow-invalid",
            "stages[1] (review): there is no stage",
            "`write`",
        ),
        (one(json!({"executor": "dmeo"})), "workflow-invalid", "stages[1] (review): ", "`demo`"),
        (
            one(json!({"depends_on": [0], "prompt_template": "{wrte.diff}"})),
            "workflow-invalid",
            "stages[1] (review): {wrte.diff}: there is no stage",
            "`write`",
        ),
        (
            one(json!({"needs": ["write"], "when": "write.oops == 1"})),
            "workflow-invalid",
            "stages[1] (review): ",
            "",
        ),
        (
            one(json!({"foreach": ["a"], "foreach_of": "write"})),
            "workflow-invalid",
            "stages[1] (review): ",
            "one of the two",
        ),
        (one(json!({"worktree_strategy": "inherit"})), "workflow-invalid", "stages[1] (review): ", ""),
        (
            one(json!({"dependsOn": [0]})),
            "invalid-value",
            "`stages[1]` has no field \"dependsOn\"",
            "`depends_on`",
        ),
        (one(json!({"checks": ["rm -rf /"]})), "invalid-value", "`stages[1]` has no field \"checks\"", ""),
        (
            one(json!({"prompt_file": "/etc/passwd"})),
            "invalid-value",
            "`stages[1]` has no field \"prompt_file\"",
            "",
        ),
        (
            one(json!({"returns": "opinion"})),
            "invalid-value",
            "`stages[1].returns` cannot be \"opinion\"",
            "verdict",
        ),
        (one(json!({"extra_args": ["--yolo"]})), "invalid-value", "extra_args: ", "agents.demo.task_args"),
    ] {
        let (got, said, hints) = client.refused("create_workflow", order(&play, &stages));
        assert_eq!(got, code, "{stages}: {said}");
        assert!(said.contains(message), "{stages}: {said}");
        assert!(hints.contains(hint), "{stages}: {said}: {hints}");
    }
    let several = one(json!({"needs": ["wrte"], "executor": "dmeo"}));
    let (_, _, hints) = client.refused("create_workflow", order(&play, &several));
    assert!(hints.contains("also: stages[1] (review): "), "{hints}");
    for (name, value, code, message) in [
        ("repo_path", json!("/no/such/place"), "not-a-repository", "repo_path: "),
        ("base_ref", json!("no-such-branch"), "invalid-value", "base_ref: "),
        ("executor", json!("dmeo"), "invalid-value", "executor: there is no agent `dmeo`"),
        ("workflow", json!("write-review-refine"), "invalid-value", "both given"),
        ("name", Value::Null, "invalid-value", "name: it is needed"),
        ("stages", Value::Null, "invalid-value", "neither `stages` nor `workflow`"),
    ] {
        let mut order = order(&play, &json!([good()]));
        order[name] = value;
        let (got, said, _) = client.refused("create_workflow", order);
        assert_eq!(got, code, "{name}: {said}");
        assert!(said.contains(message), "{name}: {said}");
    }
    assert_ready_ones(&play, &mut client);
    assert_eq!(client.call("list_workflows", json!({}))["count"], 0, "nothing was made");
    assert_eq!(client.call("list_workers", json!({}))["count"], 0, "nothing was started");
}

/// What cannot be said of a workflow that is there already.
#[track_caller]
fn assert_ready_ones(play: &Stage, client: &mut McpClient) {
    let ready = |name: &str| json!({"repo_path": play.path(), "workflow": name, "executor": "demo"});
    for (order, code, message, hint) in [
        (ready("write-reveiw-refine"), "workflow-not-found", "workflow: ", "`write-review-refine`"),
        (ready("/etc/passwd"), "invalid-value", "is not a name", ".fleet/workflows"),
        (ready("./flow.toml"), "invalid-value", "is not a name", ".fleet/workflows"),
        (ready("write-review-refine"), "workflow-invalid", "this workflow needs a task", "give it a task"),
        (
            with(ready("write-review-refine"), &json!({"name": "x"})),
            "invalid-value",
            "name: it is only for",
            "leave out",
        ),
        (
            with(ready("write-review-refine"), &json!({"task_prompt": "x", "params": {"oops": 1}})),
            "workflow-invalid",
            "there is no parameter `oops`",
            "",
        ),
    ] {
        let (got, said, hints) = client.refused("create_workflow", order.clone());
        assert_eq!(got, code, "{order}: {said}");
        assert!(said.contains(message), "{order}: {said}");
        assert!(hints.contains(hint), "{order}: {said}: {hints}");
    }
}

#[test]
fn what_the_other_tools_of_workflows_do_not_take() {
    let play = Stage::quiet();
    let mut client = play.client();
    for tool in ["get_workflow_status", "cancel_workflow", "collect_workflow_result", "cleanup_workflow"] {
        let (code, message, hint) = client.refused(tool, json!({"workflow_id": "w0nothing"}));
        assert_eq!(code, "workflow-not-found", "{tool}: {message}");
        assert!(message.starts_with("workflow_id: Workflow not found: w0nothing"), "{tool}: {message}");
        assert!(hint.contains("list_workflows"), "{tool}: {hint}");
    }
    for (args, message) in [
        (json!({}), "between 1 and"),
        (json!({"workflow_ids": [], "worker_ids": []}), "between 1 and"),
        (json!({"workflow_ids": ["w0nothing"]}), "workflow_id: Workflow not found: w0nothing"),
    ] {
        let (_, said, _) = client.refused("wait", args.clone());
        assert!(said.contains(message), "{args}: {said}");
    }
}
