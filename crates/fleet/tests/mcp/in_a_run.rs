//! The agent of a run commands only what comes from its own task.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use fleet_testkit::mcp_client::McpClient;
use fleet_testkit::wait_until;
use serde_json::json;

use crate::stage::Stage;

#[test]
fn an_agent_sees_and_ends_only_its_own_workers() {
    let stage = Stage::new();
    let (program, seen) = (stage.fleet.user_home().join("own"), stage.fleet.user_home().join("seen"));
    let script = format!("#!/bin/sh\nenv > {0}.new && mv {0}.new {0}\nexec sleep 600\n", seen.display());
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let config = format!("[agents.own]\nprogram = '{}'\n", program.display());
    std::fs::write(stage.fleet.home().join("config.toml"), config).unwrap();
    let mut person = stage.client();
    let other = stage.worker(&mut person, "hang");
    let mut order = stage.order("say hi");
    order["executor"] = json!("own");
    let own = person.call("create_worker", order)["worker_id"].as_str().unwrap().to_owned();
    wait_until(Duration::from_mins(1), "the agent runs", || seen.exists());
    let environment = std::fs::read_to_string(&seen).unwrap();
    let environment: BTreeMap<&str, &str> =
        environment.lines().filter_map(|line| line.split_once('=')).collect();
    let fleet =
        stage.fleet.env("FLEET_RUN", environment["FLEET_RUN"]).env("FLEET_TOKEN", environment["FLEET_TOKEN"]);
    let mut agent = McpClient::start(fleet.command(&["mcp"]));

    let child = agent.call("create_worker", stage.order("hang"));
    assert_eq!(child["parent_worker_id"], json!(own));
    assert_eq!(child["parent_run_id"], json!(environment["FLEET_RUN"]));
    for tool in ["get_worker_status", "collect_worker_result", "cancel_worker", "cleanup_worker", "get_diff"]
    {
        let (code, message, _) = agent.refused(tool, json!({"worker_id": other}));
        assert_eq!(code, "not-yours", "{tool}: {message}");
    }
    assert_eq!(agent.refused("wait", json!({"worker_ids": [child["worker_id"], other]})).0, "not-yours");
    assert_eq!(agent.refused("prompt_worker", json!({"worker_id": other, "prompt": "stop"})).0, "not-yours");
    let listed = agent.call("list_workers", json!({}));
    let ids: Vec<_> =
        listed["workers"].as_array().unwrap().iter().map(|worker| worker["worker_id"].clone()).collect();
    assert_eq!(ids, [child["worker_id"].clone(), json!(own)]);
    let answer = agent.ask("resources/read", json!({"uri": format!("fleet://task/{other}")}));
    assert_eq!(answer["error"]["data"]["code"], "not-yours", "{answer}");
    assert_eq!(agent.call("cancel_worker", json!({"worker_id": child["worker_id"]}))["status"], "cancelled");
    // Whoever claims to be an agent and cannot prove it is neither that agent nor a person.
    let child = child["worker_id"].as_str().unwrap();
    for (run, token, code) in [
        (environment["FLEET_RUN"], "guessed", "token-refused"),
        ("r0smmyvymnt4z7j", environment["FLEET_TOKEN"], "run-not-found"),
    ] {
        let fleet = stage.fleet.env("FLEET_RUN", run).env("FLEET_TOKEN", token);
        let mut liar = McpClient::start(fleet.command(&["mcp"]));
        for worker in [other.as_str(), child] {
            assert_eq!(liar.refused("get_worker_status", json!({"worker_id": worker})).0, code);
        }
    }
    for id in [own, other] {
        assert_eq!(person.call("cancel_worker", json!({"worker_id": id}))["status"], "cancelled");
    }
}
