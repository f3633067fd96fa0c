//! The official client of the protocol, which is not ours: Python's, over both transports.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use fleet_testkit::python::Python;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::http::Server;
use crate::stage::Stage;

const SCRIPT: &str = include_str!("client.py");

/// How the client gets at a server.
#[derive(Clone, Copy)]
enum Way {
    /// It starts one.
    Stdio,
    /// One is up.
    Http,
}

/// What the client saw; none when there is no Python for it.
#[track_caller]
fn seen(stage: &Stage, way: Way, story: &str) -> Option<Value> {
    let mut python = Python::Client.or_skip()?;
    let (server, _up) = match way {
        Way::Stdio => (stage.server(), None),
        Way::Http => {
            let server = Server::start(stage);
            (json!({"url": server.url(), "token": server.token}), Some(server))
        }
    };
    let order = json!({"server": server, "story": story, "repo": stage.path()});
    Some(run_script(python.args(["-c", SCRIPT]), stage.fleet.user_home(), &order))
}

/// What a script prints as JSON when it gets this order on its standard input.
#[track_caller]
pub(crate) fn run_script<T: DeserializeOwned>(script: &mut Command, home: &Path, order: &Value) -> T {
    let mut child = script
        .env_clear()
        .env("HOME", home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(order.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{order}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn works_over_stdio() {
    let stage = Stage::new();
    seen(&stage, Way::Stdio, "worker").iter().for_each(check_worker);
}

#[test]
fn works_over_http() {
    let stage = Stage::new();
    seen(&stage, Way::Http, "worker").iter().for_each(check_worker);
}

fn check_worker(seen: &Value) {
    check_offer(&seen["offered"]);
    assert!(["pending", "running"].contains(&seen["made"]["status"].as_str().unwrap()), "{}", seen["made"]);
    assert_eq!(seen["made"]["executor"], "demo");
    assert_eq!(seen["waited"]["answer"]["done"], true, "{seen:#}");
    assert!(!seen["waited"]["progress"].as_array().unwrap().is_empty(), "nothing was told of the progress");
    let collected = &seen["collected"];
    assert_eq!(collected["status"], "succeeded", "{collected:#}");
    assert_eq!(collected["result"]["files_changed"], json!(["a.txt"]));
    assert!(seen["diff"].to_string().contains("+one"), "{}", seen["diff"]);
    assert!(seen["log"].as_str().unwrap().contains("hello"), "{}", seen["log"]);
    assert!(seen["result"].is_object());
    let log = format!("fleet://run/{}/log", collected["run_id"].as_str().unwrap());
    assert!(seen["resources"].as_array().unwrap().contains(&json!(log)), "{}", seen["resources"]);
    assert!(seen["prompt"].as_str().unwrap().contains("mend the roof"));
    let over = &seen["after"]["answer"]["workers"][0];
    assert_eq!((&over["status"], &over["over"]), (&json!("cancelled"), &json!(true)), "{seen:#}");
    assert_eq!(seen["cleaned"]["errors"], json!([]), "{}", seen["cleaned"]);
}

fn check_offer(offered: &Value) {
    assert_eq!(offered["server"], "codefleet");
    assert!(!offered["instructions"].as_str().unwrap().is_empty());
    let tools = offered["tools"].as_object().unwrap();
    for name in
        ["healthcheck", "create_worker", "wait", "collect_worker_result", "get_diff", "cleanup_worker"]
    {
        assert!(tools.contains_key(name), "{name} is missing");
    }
    for (name, tool) in tools {
        assert!(tool["description"].as_str().is_some_and(|text| text.len() > 20), "{name}: {tool}");
        assert_eq!(tool["output"], true, "{name} has no schema of its answer");
        assert_eq!(tool["undescribed"], json!([]), "{name} has arguments without a word");
    }
    assert_eq!(
        (&tools["wait"]["read_only"], &tools["create_worker"]["read_only"]),
        (&json!(true), &json!(false))
    );
    assert!(offered["templates"].to_string().contains("fleet://run/"), "{}", offered["templates"]);
    assert!(offered["prompts"].as_array().unwrap().contains(&json!("delegate")), "{}", offered["prompts"]);
}

#[test]
fn runs_a_workflow_over_stdio() {
    let stage = Stage::new();
    seen(&stage, Way::Stdio, "workflow").iter().for_each(check_workflow);
}

#[test]
fn runs_a_workflow_over_http() {
    let stage = Stage::new();
    seen(&stage, Way::Http, "workflow").iter().for_each(check_workflow);
}

fn check_workflow(seen: &Value) {
    assert_eq!(seen["waited"]["answer"]["done"], true, "{seen:#}");
    assert_eq!(seen["status"]["status"], "succeeded", "{seen:#}");
    let stages = seen["status"]["stage_summary"].as_array().unwrap().iter();
    let stages: Vec<Value> =
        stages.map(|stage| json!([stage["index"], stage["name"], stage["status"]])).collect();
    assert_eq!(
        json!(stages),
        json!([[0, "implement", "succeeded"], [1, "review", "succeeded"], [2, "refine", "succeeded"]])
    );
    let results = seen["collected"]["stage_results"].as_array().unwrap();
    assert_eq!(results.len(), 3, "{}", seen["collected"]);
    assert!(results[2]["result"].to_string().contains("c.txt"), "{}", results[2]);
    assert_eq!(seen["end"]["status"], "cancelled", "{}", seen["end"]);
    assert_eq!(seen["listed"]["count"], 2, "{}", seen["listed"]);
    for cleaned in seen["cleaned"].as_array().unwrap() {
        assert_eq!(cleaned["errors"], json!([]), "{cleaned}");
    }
}

#[test]
fn is_told_what_is_wrong() {
    let stage = Stage::quiet();
    let Some(seen) = seen(&stage, Way::Stdio, "refusals") else { return };
    for (what, names) in
        [("unknown", "zzzz"), ("repository", "repo_path"), ("argument", "colour"), ("missing", "task_name")]
    {
        let refused = &seen[what]["refused"];
        assert!(refused["code"].is_string(), "{what}: {}", seen[what]);
        assert!(seen[what]["text"].as_str().unwrap().contains(names), "{what}: {}", seen[what]);
    }
    assert_eq!(seen["unknown"]["refused"]["hint"], "`list_workers` shows the workers");
    assert!(seen["resource"].as_str().unwrap().contains("zzzz"), "{seen:#}");
    assert!(seen["tool"].as_str().unwrap().contains("fly"), "{seen:#}");
}

#[test]
fn two_at_once_share_the_work() {
    for way in [Way::Stdio, Way::Http] {
        let stage = Stage::new();
        let Some(seen) = seen(&stage, way, "two") else { return };
        let mut ids: Vec<&Value> = seen["ids"].as_array().unwrap().iter().collect();
        ids.sort_by_key(|id| id.as_str());
        assert_eq!(seen["done"], json!([true, true]), "{seen:#}");
        assert_eq!(seen["lists"], json!([ids, ids]), "{seen:#}");
    }
}
