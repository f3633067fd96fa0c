//! Many agents at once, all of whom talk.

use std::collections::BTreeMap;

use fleet_testkit::wait_until;

use super::stage::{BOUND, Stage};

const AGENTS: usize = 50;
const LINES: usize = 200;

#[test]
fn heavy_fifty_agents_lose_no_word() {
    let stage = Stage::new();
    let tasks: Vec<String> = (0..AGENTS)
        .map(|agent| {
            let lines: Vec<String> = (0..LINES).map(|line| format!("say {agent} says {line}")).collect();
            stage.add(&format!("{}\nwrite {agent}.txt done", lines.join("\n")))
        })
        .collect();
    let runner = stage.run_with(None, &["--slots", "50"]);
    wait_until(BOUND * 2, "all are done", || {
        let left = stage.fleet.json(&["task", "list", "--limit", "1"]);
        left["tasks"].as_array().unwrap().is_empty()
    });
    stage.assert_tidy([runner]);
    let mut heard: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for event in stage.events().iter().filter(|event| event["kind"] == "run.said") {
        let task = event["task"].as_str().unwrap().to_owned();
        heard.entry(task).or_default().push(event["data"]["text"].as_str().unwrap().to_owned());
    }
    for (agent, task) in tasks.iter().enumerate() {
        let said: Vec<String> = (0..LINES).map(|line| format!("{agent} says {line}")).collect();
        assert_eq!(heard[task], said, "each line once, in order");
        let shown = stage.task(task);
        assert_eq!((&shown["state"], &shown["attempts"]), (&"done".into(), &1.into()), "{shown:#}");
    }
}
