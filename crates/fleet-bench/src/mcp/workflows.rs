//! Three stages in a row: what each costs beside its agent.

use std::time::Instant;

use fleet_testkit::repo::Repo;
use serde_json::{Value, json};

use super::beside;
use super::rig::{McpRig, Served, ServerKind, WorkerTask, id, repository};
use crate::BenchSetting;
use crate::report::{Goal, ReportRow};
use crate::timing::median;

const ROUNDS: usize = 11;
const WARM: usize = 2;
const STAGES: usize = 3;

pub(crate) fn run(setting: &BenchSetting) -> Vec<ReportRow> {
    beside(setting, |rig| [WorkerTask::Nothing, WorkerTask::Change].map(|work| measure(rig, work)).to_vec())
}

fn measure(rig: &McpRig, work: WorkerTask) -> ReportRow {
    let repos = [repository(work), repository(work)];
    let mut servers = [rig.serve(ServerKind::Ours), rig.serve(ServerKind::Theirs)];
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..ROUNDS + WARM {
        for ((server, repo), times) in servers.iter_mut().zip(&repos).zip(&mut times) {
            let took = whole(server, repo).filter(|_| round >= WARM);
            times.extend(took.map(|took| took / STAGES as f64));
        }
    }
    let [ours, theirs] = times.map(median);
    ReportRow::new(
        format!("each of three stages in a row, {}", work.words()),
        (ours, "ms"),
        (theirs, "ms, the original"),
        Goal::AtMost(0.8),
    )
}

fn whole(server: &mut Served, repo: &Repo) -> Option<f64> {
    let begun = Instant::now();
    let stages: Vec<Value> = (0..STAGES).map(stage).collect();
    let workflow = server.call(
        "create_workflow",
        json!({"name": "stub", "repo_path": repo.path(), "task_prompt": "Do what you do.", "stages": stages}),
    );
    let which = json!({"workflow_id": id(&workflow, "workflow_id")});
    let seen = server.until_over("get_workflow_status", &which)?;
    let result = server.call("collect_workflow_result", which);
    let took = begun.elapsed().as_secs_f64() * 1_000.0;
    assert_eq!(seen["status"], "succeeded", "{seen}");
    // The original forgets now and then who did the last stage, and has no result then.
    let is_there = result["final_result"]["result"]["summary"] == "done";
    assert!(is_there || server.whose == ServerKind::Theirs, "{result}");
    Some(took)
}

/// Each goes on with the work of the one before it.
fn stage(at: usize) -> Value {
    let (strategy, needs) = if at == 0 { ("new", vec![]) } else { ("inherit", vec![at - 1]) };
    json!({
        "name": format!("stage-{at}"),
        "executor": "codex",
        "prompt_template": "{task_prompt}",
        "worktree_strategy": strategy,
        "depends_on": needs,
    })
}
