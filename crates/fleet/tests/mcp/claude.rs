//! Claude Code as the client: a real one, whose model is scripted.

use std::time::Duration;

use fleet_testkit::clis::{Cli, Direct, Ended};
use fleet_testkit::model::{ModelServer, Turn};
use serde_json::{Value, json};

use crate::stage::Stage;

/// Longer than it takes, on a machine that is busy with everything else.
const BOUND: Duration = Duration::from_mins(4);

/// Lets the model make these calls, and returns what each answered, as the model heard it.
fn answers(stage: &Stage, calls: &[(&str, Value)]) -> Option<(Ended, Vec<String>)> {
    let program = Cli::Claude.or_skip()?;
    let (model, place) = (ModelServer::start(), tempfile::tempdir().unwrap());
    let config = json!({"mcpServers": {"codefleet": stage.server()}}).to_string();
    let agent = Direct::new(Cli::Claude, program, model.base("calls", "run"), place.path());
    let lines: Vec<String> =
        calls.iter().map(|(tool, arguments)| format!("CALL {tool} {arguments}")).collect();
    let agent = agent.with(&["--mcp-config", &config, "--strict-mcp-config"]);
    let ended = agent.run(&lines.join("\n"), BOUND);
    let last = model.questions("run").pop().unwrap();
    let heard = last.talk.turns.into_iter().filter_map(|turn| match turn {
        Turn::Tool(text) => Some(text),
        _ => None,
    });
    // Where tools are hidden, the first answer is that of the search for them.
    let heard: Vec<String> = heard.collect();
    let asides = heard.len().saturating_sub(calls.len());
    Some((ended, heard[asides..].to_vec()))
}

#[test]
fn runs_a_workflow() {
    let stage = Stage::new();
    let one = |name: &str, file: &str, needs: &[usize]| {
        let prompt = format!("{{task_prompt}}\n```demo\nwrite {file} hi\n```");
        let strategy = if needs.is_empty() { "new" } else { "inherit" };
        json!({
            "name": name, "executor": "demo", "prompt_template": prompt, "worktree_strategy": strategy,
            "depends_on": needs,
        })
    };
    let stages = [one("implement", "a.txt", &[]), one("review", "b.txt", &[0]), one("refine", "c.txt", &[1])];
    let which = json!({"workflow_id": "$1.workflow_id"});
    let calls = [
        (
            "create_workflow",
            json!({"name": "line", "repo_path": stage.path(), "task_prompt": "Build it", "stages": stages}),
        ),
        ("wait", json!({"workflow_ids": ["$1.workflow_id"]})),
        ("get_workflow_status", which.clone()),
        ("collect_workflow_result", which.clone()),
        ("cleanup_workflow", which),
    ];
    let Some((ended, heard)) = answers(&stage, &calls) else { return };
    assert_eq!((ended.code, heard.len()), (0, calls.len()), "{heard:#?}\n{}", ended.stdout);
    let says = ["workflow_id", "\"done\":true", "3/3 stages complete", "c.txt", "\"errors\":[]"];
    for ((heard, says), (tool, _)) in heard.iter().zip(says).zip(&calls) {
        assert!(heard.contains(says), "{tool} should say {says}: {heard}");
    }
}

#[test]
fn starts_a_worker_and_looks_at_its_work() {
    let stage = Stage::new();
    let which = json!({"worker_id": "$2.worker_id"});
    let calls = [
        ("list_agents", json!({})),
        ("create_worker", stage.order("write a.txt one")),
        ("wait", json!({"worker_ids": ["$2.worker_id"]})),
        ("collect_worker_result", which.clone()),
        ("get_diff", json!({"worker_id": "$2.worker_id", "format": "patch"})),
        ("cleanup_worker", which),
    ];
    let Some((ended, heard)) = answers(&stage, &calls) else { return };
    assert_eq!(ended.code, 0, "{}", ended.stdout);
    assert_eq!(heard.len(), calls.len(), "{heard:#?}\n{}", ended.stdout);
    let says = ["demo", "worker_id", "\"done\":true", "\"succeeded\"", "+one", "\"errors\":[]"];
    for ((heard, says), (tool, _)) in heard.iter().zip(says).zip(&calls) {
        assert!(heard.contains(says), "{tool} should say {says}: {heard}");
    }
}
