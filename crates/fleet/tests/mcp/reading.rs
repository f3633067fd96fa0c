//! Resources and prompts.

use serde_json::{Value, json};

use crate::stage::Stage;

#[test]
fn what_a_run_left_can_be_read_by_name() {
    let stage = Stage::new();
    let mut client = stage.client();
    let id = stage.worker(&mut client, "say hello\nwrite b.txt hi");
    client.call("wait", json!({"worker_ids": [id]}));
    let run =
        client.call("get_worker_status", json!({"worker_id": id}))["run_id"].as_str().unwrap().to_owned();
    let templates = client.ask("resources/templates/list", json!({}));
    assert_eq!(templates["result"]["resourceTemplates"].as_array().unwrap().len(), 5);
    let listed = client.ask("resources/list", json!({}));
    let names: Vec<&str> = listed["result"]["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["uri"].as_str().unwrap())
        .collect();
    assert!(names.contains(&format!("fleet://task/{id}").as_str()), "{names:?}");
    let mut read = |uri: String| {
        let answer = client.ask("resources/read", json!({"uri": uri}));
        let contents = &answer["result"]["contents"][0];
        assert_eq!(contents["uri"], json!(uri), "{answer}");
        contents["text"].as_str().unwrap().to_owned()
    };
    for (uri, part) in [
        (format!("fleet://task/{id}"), "\"status\": \"succeeded\""),
        (format!("fleet://run/{run}/log"), "hello"),
        (format!("fleet://run/{run}/result"), "\"b.txt\""),
        (format!("fleet://run/{run}/diff"), "+hi"),
        (format!("fleet://run/{run}/prompt"), "write b.txt hi"),
    ] {
        let text = read(uri.clone());
        assert!(text.contains(part), "{uri}: {text}");
    }
    assert_eq!(read(format!("fleet://run/{run}/log?lines=1")).lines().count(), 1);
    for uri in ["fleet://run/r0nothing/log", "fleet://nothing", "file:///etc/passwd"] {
        let answer = client.ask("resources/read", json!({"uri": uri}));
        assert_eq!(answer["error"]["code"], -32002, "{answer}");
        assert!(answer["error"]["data"]["code"].is_string(), "{answer}");
    }
}

#[test]
fn recipes_are_filled_in() {
    let stage = Stage::quiet();
    let mut client = stage.client();
    let listed = client.ask("prompts/list", json!({}));
    let names: Vec<&Value> =
        listed["result"]["prompts"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["delegate", "compete", "write-review-refine", "triage"]);
    let filled =
        client.ask("prompts/get", json!({"name": "delegate", "arguments": {"task": "Port the parser"}}));
    let text = filled["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("Port the parser") && text.contains("create_worker"), "{text}");
    let answer = client.ask("prompts/get", json!({"name": "delegate", "arguments": {}}));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}
