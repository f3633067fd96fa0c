//! What a worker is given besides its prompt reaches the agent's program, and nothing else does.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::stage::Stage;

#[test]
fn effort_model_and_allowed_arguments_reach_the_program() {
    let stage = Stage::new();
    let program = stage.fleet.user_home().join("codex");
    let seen = stage.fleet.user_home().join("seen");
    let script = format!(
        "#!/bin/sh\ncase \"$1\" in --version) echo 1; exit;; esac\nprintf '%s\\n' \"$@\" > {}\ncat > /dev/null\n",
        seen.display()
    );
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let config = format!("[agents.codex]\nprogram = '{}'\ntask_args = ['--search']\n", program.display());
    std::fs::write(stage.fleet.home().join("config.toml"), config).unwrap();
    let mut client = stage.client();
    let mut order = stage.order("say hi");
    order["executor"] = json!("codex");
    order["model"] = json!("gpt-5.5");
    order["reasoning_effort"] = json!("high");
    order["extra_args"] = json!(["--search", "a b; rm -rf /"]);
    let worker = client.call("create_worker", order.clone());
    assert_eq!(
        (&worker["reasoning_effort"], &worker["extra_args"]),
        (&order["reasoning_effort"], &order["extra_args"])
    );
    client.call("wait", json!({"worker_ids": [worker["worker_id"]]}));
    let arguments = std::fs::read_to_string(&seen).unwrap();
    let arguments: Vec<&str> = arguments.lines().collect();
    for wanted in ["gpt-5.5", "model_reasoning_effort=\"high\"", "--search", "a b; rm -rf /"] {
        assert!(arguments.contains(&wanted), "{wanted}: {arguments:?}");
    }
    order["extra_args"] = json!(["--search", "--dangerously-bypass-approvals-and-sandbox"]);
    let (_, message, hint) = client.refused("create_worker", order);
    assert!(message.contains("--dangerously-bypass"), "{message}");
    assert!(hint.contains("agents.codex.task_args"), "{hint}");
}
