//! Workflows in which several agents work on what the others did.

use std::path::{Path, PathBuf};

use fleet_testkit::clis::Cli;
use fleet_testkit::model::CONTENT;
use serde_json::{Value, json};

use crate::stage::Stage;

/// Files as people have them from elsewhere; they must run as they are.
fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/workflows").join(name)
}

/// With agents that write what their prompt names, and otherwise only look.
fn stage() -> Option<Stage> {
    let agents = [Cli::Codex, Cli::Claude, Cli::Gemini].map(|cli| (cli, "multi"));
    Some(Stage::new(&agents)?.with("FLEET_AUTOSTART", "true"))
}

/// Runs it to its end, and returns it with its stages.
#[track_caller]
fn run(stage: &Stage, name: &str, more: &[&str]) -> Value {
    let file = example(name);
    let arguments = ["workflow", "run", file.to_str().unwrap(), "--task", "Write the file TARGET=out.txt"];
    let seen = stage.fleet.json(&[&arguments[..], more].concat());
    stage.fleet.run(&["stop", "--agents"]);
    assert_eq!(seen["state"], "succeeded", "{seen:#}");
    seen
}

/// Name, agent and state of each stage.
fn stages(seen: &Value) -> Value {
    let stages = seen["stages"].as_array().unwrap().iter();
    stages.map(|stage| json!([stage["name"], stage["agent"], stage["state"]])).collect()
}

#[track_caller]
fn written(stage: &Stage, seen: &Value, name: &str) -> String {
    let stages = seen["stages"].as_array().unwrap();
    let one = stages.iter().find(|stage| stage["name"] == name).unwrap();
    let branch = one["branch"].as_str().unwrap_or_else(|| panic!("{name} has no branch: {seen:#}"));
    format!("{}\n", stage.repo.git(&["show", &format!("{branch}:out.txt")]))
}

pub(crate) fn written_reviewed_and_refined() {
    let Some(stage) = stage() else { return };
    let seen = run(&stage, "write-review-refine.json", &[]);
    let expected =
        json!([["implement", "codex", "done"], ["review", "claude", "done"], ["refine", "codex", "done"]]);
    assert_eq!(stages(&seen), expected);
    assert_eq!(written(&stage, &seen, "implement"), CONTENT);
    let asked = stage.questions(Cli::Claude);
    let prompt = asked[0].talk.prompts().join("\n");
    assert!(
        prompt.contains("Scripted answer 1.") && prompt.contains("out.txt"),
        "what was done before: {prompt}"
    );
}

pub(crate) fn written_in_parallel_and_reviewed() {
    let Some(stage) = stage() else { return };
    let seen = run(&stage, "parallel-review.json", &[]);
    let expected =
        json!([["module-a", "codex", "done"], ["module-b", "gemini", "done"], ["review", "claude", "done"]]);
    assert_eq!(stages(&seen), expected);
    for name in ["module-a", "module-b"] {
        assert_eq!(written(&stage, &seen, name), CONTENT, "{name}");
    }
}

pub(crate) fn written_twice_and_judged() {
    let Some(stage) = stage() else { return };
    let seen = run(&stage, "compete-judge.json", &[]);
    let expected = json!([
        ["codex-impl", "codex", "done"],
        ["claude-impl", "claude", "done"],
        ["evaluate", "claude", "done"]
    ]);
    assert_eq!(stages(&seen), expected);
    for name in ["codex-impl", "claude-impl"] {
        assert_eq!(written(&stage, &seen, name), CONTENT, "{name}");
    }
}

/// Without any agent of a vendor.
pub(crate) fn played_by_the_demo_agent() {
    let stage = Stage::new(&[]).unwrap().with("FLEET_AUTOSTART", "true");
    for name in ["write-review-refine.json", "parallel-review.json", "compete-judge.json"] {
        let seen = run(&stage, name, &["--agent", "demo"]);
        let stages = seen["stages"].as_array().unwrap();
        assert!(stages.iter().all(|stage| stage["agent"] == "demo" && stage["state"] == "done"), "{seen:#}");
    }
}
