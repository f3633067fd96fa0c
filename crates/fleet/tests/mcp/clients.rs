//! Several clients, clients that leave, and servers that die.

use std::time::{Duration, Instant};

use fleet_testkit::mcp_client::McpClient;
use fleet_testkit::wait_until;
use serde_json::json;

use crate::stage::Stage;

/// For slow machines.
const SOON: Duration = Duration::from_mins(1);

#[test]
fn two_clients_see_the_same_workers() {
    let stage = Stage::new();
    let (mut one, mut other) = (stage.client(), stage.client());
    let id = stage.worker(&mut one, "write a.txt one");
    let waiting = other.send_call("wait", json!({"worker_ids": [id]}));
    assert_eq!(one.call("wait", json!({"worker_ids": [id]}))["done"], true);
    assert_eq!(other.result(waiting)["structuredContent"]["done"], true);
    assert_eq!(other.call("collect_worker_result", json!({"worker_id": id}))["status"], "succeeded");
}

#[test]
fn a_client_that_leaves_stops_nothing() {
    let stage = Stage::new();
    let mut client = stage.client();
    let go = stage.repo.path().join(".git/go");
    let id = stage.worker(&mut client, &format!("wait-for {}\nwrite a.txt one", go.display()));
    let waiting = client.send_call("wait", json!({"worker_ids": [id]}));
    let left = Instant::now();
    assert!(client.close().success(), "it ends although somebody waited ({waiting})");
    assert!(left.elapsed() < Duration::from_secs(4), "and at once: {:?}", left.elapsed());
    std::fs::write(go, "").unwrap();
    let mut later = stage.client();
    assert_eq!(later.call("wait", json!({"worker_ids": [id]}))["workers"][0]["status"], "succeeded");
}

#[test]
fn a_server_that_is_killed_while_somebody_waits_loses_nothing() {
    let stage = Stage::new();
    let mut client = stage.client();
    let go = stage.repo.path().join(".git/go");
    let id = stage.worker(&mut client, &format!("wait-for {}\nwrite a.txt one", go.display()));
    client.send_call("wait", json!({"worker_ids": [id]}));
    wait_until(SOON, "it runs", || {
        client.call("get_worker_status", json!({"worker_id": id}))["status"] == "running"
    });
    client.kill();
    std::fs::write(go, "").unwrap();
    let mut next = stage.client();
    assert_eq!(next.call("wait", json!({"worker_ids": [id]}))["workers"][0]["status"], "succeeded");
}

#[test]
fn fifty_orders_at_once_and_another_call_in_between() {
    let stage = Stage::quiet();
    let mut client = stage.client();
    let orders: Vec<u64> =
        (0..50).map(|_| client.send_call("create_worker", stage.order("say hi"))).collect();
    let status = client.send("tools/list", json!({}));
    assert!(client.answer(status)["result"]["tools"].as_array().unwrap().len() >= 11);
    let mut ids: Vec<String> = Vec::new();
    for order in orders {
        let result = client.result(order);
        assert_eq!(result["isError"], false, "{result}");
        ids.push(result["structuredContent"]["worker_id"].as_str().unwrap().to_owned());
    }
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 50, "none was refused, and none is another");
    assert_eq!(client.call("list_workers", json!({"limit": 200}))["count"], 50);
}

#[test]
fn a_wait_does_not_keep_others_waiting_and_can_be_cancelled() {
    let stage = Stage::quiet();
    let mut client = stage.client();
    let id = stage.worker(&mut client, "say hi");
    let waits: Vec<u64> = (0..20).map(|_| client.send_call("wait", json!({"worker_ids": [id]}))).collect();
    assert_eq!(client.call("get_worker_status", json!({"worker_id": id}))["status"], "pending");
    for wait in &waits[1..] {
        let gone =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": wait}});
        client.raw(&gone.to_string());
    }
    client.call("cancel_worker", json!({"worker_id": id}));
    assert_eq!(client.result(waits[0])["structuredContent"]["workers"][0]["status"], "cancelled");
}

#[test]
fn an_interrupted_server_ends_well() {
    let stage = Stage::quiet();
    for signal in [rustix::process::Signal::INT, rustix::process::Signal::TERM] {
        let client = stage.client();
        let pid = rustix::process::Pid::from_raw(client.pid().try_into().unwrap()).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
        assert!(client.close().success(), "{signal:?}");
    }
}

#[test]
fn a_client_that_says_nothing_and_leaves_is_no_failure() {
    let stage = Stage::quiet();
    let client = McpClient::silent(stage.fleet.command(&["mcp"]));
    assert!(client.close().success());
    assert!(!stage.fleet.home().join("fleet.db").exists(), "nothing was opened for it");
}
