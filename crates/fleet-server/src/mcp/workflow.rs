//! A workflow with its stages, in the words of the protocol's clients.
//!
//! Owns the names and meanings of its fields, and which state is which status. Must never ask the store itself.

use fleet_api::Client;
use fleet_api::verbs::workflow_show::{Depth, Request};
use fleet_api::views::{StageView, WorkflowDetail, WorkflowProgress};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::text::{escaped, shortened};
use fleet_engine::clock;
use schemars::JsonSchema;
use serde::Serialize;

use super::answer::lost;
use super::place;
use super::status::{self, StageStatus, WorkflowStatus};
use super::worker::{age, dollars, seconds};

/// A workflow. Moments are seconds since 1970.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct WorkflowAnswer {
    pub(super) workflow_id: String,
    pub(super) name: String,
    pub(super) status: WorkflowStatus,
    /// The finer state: running, cancelling, succeeded, failed, cancelled
    state: String,
    /// True when nothing more happens unless a person acts
    pub(super) over: bool,
    repo_path: Option<String>,
    task_prompt: String,
    /// The commit that it starts from
    base_commit: String,
    /// Its stages, in the order in which they were given
    pub(super) stage_summary: Vec<StageSummary>,
    created_at: f64,
    pub(super) completed_at: Option<f64>,
    error_message: Option<String>,
    input_tokens: u64,
    output_tokens: u64,
    cost_usd: f64,
    elapsed: String,
    progress: String,
    pub(super) summary_line: String,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct StageSummary {
    /// The number of its stage, from 0, in the order in which they were given
    pub(super) index: usize,
    /// As it was given
    pub(super) name: String,
    /// The same as it fits a branch: by this name others need it
    pub(super) stage: String,
    executor: Option<String>,
    pub(super) status: StageStatus,
    /// Its worker, for the tools of workers; null as long as it waits for other stages
    worker_id: Option<String>,
    status_label: String,
    elapsed: String,
    model: Option<String>,
    /// The stages that it needs
    needs: Vec<String>,
    /// What it is for, if its stage is spread over a list
    item: Option<String>,
    branch_name: Option<String>,
    /// What its agent is doing, or what it waits for
    heartbeat_message: Option<String>,
    /// Why it failed, was skipped, or is stuck
    error_message: Option<String>,
    /// What its agent says it did
    summary: Option<String>,
}

/// A problem with the workflow that a client named.
pub(super) fn named(workflow_id: &str, problem: Problem) -> Problem {
    match problem.code {
        Code::WorkflowNotFound => Problem {
            message: format!("Workflow not found: {}", escaped(&shortened(workflow_id, 60))),
            hints: vec!["`list_workflows` shows the workflows".to_owned()],
            field: Some("workflow_id".to_owned()),
            ..problem
        },
        _ => problem,
    }
}

/// A workflow as it stands. What all attempts used is counted, so that it is the same wherever one is shown.
pub(super) async fn look(client: &dyn Client, workflow_id: &str, depth: Depth) -> Outcome<WorkflowDetail> {
    let request = Request { id: workflow_id.to_owned(), depth, ..Request::default() };
    Ok(fleet_api::call(client, None, &request).await.map_err(|problem| named(workflow_id, problem))?.workflow)
}

pub(super) async fn shown(client: &dyn Client, workflows: &[WorkflowDetail]) -> Outcome<Vec<WorkflowAnswer>> {
    let projects = place::paths(client).await?;
    let path = |seen: &WorkflowDetail| Some(projects.get(&seen.workflow.project)?.display().to_string());
    let one = |seen: &WorkflowDetail| workflow(seen, path(seen));
    Ok(workflows.iter().map(one).collect())
}

pub(super) async fn one(client: &dyn Client, seen: WorkflowDetail) -> Outcome<WorkflowAnswer> {
    shown(client, &[seen]).await?.pop().ok_or_else(|| lost("the workflow"))
}

fn workflow(seen: &WorkflowDetail, repo_path: Option<String>) -> WorkflowAnswer {
    let view = &seen.workflow;
    let status = WorkflowStatus::of(view.state);
    let ended = view.ended_at.map(|at| at.0);
    let elapsed = age(Some(view.created_at.0), ended.unwrap_or(clock::now()));
    let progress = progress(&view.progress);
    WorkflowAnswer {
        workflow_id: view.id.to_string(),
        name: view.name.clone(),
        status,
        state: view.state.to_string(),
        over: seen.is_at_rest(),
        repo_path,
        task_prompt: seen.task.clone(),
        base_commit: view.base.clone(),
        stage_summary: stage_summary(seen),
        created_at: seconds(view.created_at.0),
        completed_at: ended.map(seconds),
        error_message: view.why.clone(),
        input_tokens: seen.stages.iter().map(|stage| stage.input_tokens).sum(),
        output_tokens: seen.stages.iter().map(|stage| stage.output_tokens).sum(),
        cost_usd: dollars(seen.stages.iter().map(|stage| stage.micro_usd).sum()),
        summary_line: format!("{} {} — {progress} ({elapsed})", status::label(status), view.name),
        elapsed,
        progress,
    }
}

/// The parameter in which the names of stages are kept, if they had to be changed.
const NAMES: &str = "stage_names";

fn stage_summary(seen: &WorkflowDetail) -> Vec<StageSummary> {
    let names: Vec<String> =
        seen.params.get(NAMES).and_then(|names| serde_json::from_str(names).ok()).unwrap_or_default();
    let mut stages: Vec<StageSummary> = seen.stages.iter().map(|stage| summary_of(stage, &names)).collect();
    stages.sort_by_key(|stage| stage.index);
    stages
}

fn summary_of(stage: &StageView, names: &[String]) -> StageSummary {
    let status = StageStatus::of(stage);
    let is_over = stage.state.is_over();
    let ended = stage.ended_at.map(|at| at.0);
    let waits = || Some(stage.status.clone()).filter(|_| stage.task.is_some());
    StageSummary {
        index: stage.index,
        name: names.get(stage.index).unwrap_or(&stage.name).clone(),
        stage: stage.name.clone(),
        executor: stage.agent.clone(),
        status,
        worker_id: stage.task.map(|task| task.to_string()),
        status_label: status::label(status),
        elapsed: age(stage.started_at.map(|at| at.0), ended.unwrap_or(clock::now())),
        model: stage.model.clone(),
        needs: stage.needs.clone(),
        item: stage.item.clone(),
        branch_name: stage.branch.clone(),
        heartbeat_message: if is_over { None } else { stage.activity.clone().or_else(waits) },
        error_message: stage.why.clone(),
        summary: stage.summary.clone(),
    }
}

/// `2/5 stages complete (2 done, 1 running, 2 pending)`: what there is, and in the words that clients know.
fn progress(counts: &WorkflowProgress) -> String {
    let failed = counts.failed + counts.cancelled;
    let parts = [
        (counts.done, "done"),
        (counts.running, "running"),
        (counts.pending, "pending"),
        (failed, "failed"),
        (counts.skipped, "skipped"),
    ];
    let parts = parts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}"));
    let parts = parts.collect::<Vec<_>>().join(", ");
    let parts = if parts.is_empty() { parts } else { format!(" ({parts})") };
    format!("{}/{} stages complete{parts}", counts.done, counts.total)
}

pub(super) fn summary(workflows: &[WorkflowAnswer]) -> String {
    status::summary("workflows", workflows.iter().map(|workflow| workflow.status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_names_only_what_there_is() {
        let none = WorkflowProgress {
            total: 6,
            pending: 0,
            running: 0,
            done: 0,
            failed: 0,
            cancelled: 0,
            skipped: 0,
        };
        let counts = WorkflowProgress { pending: 1, running: 1, done: 2, skipped: 2, ..none };
        assert_eq!(progress(&counts), "2/6 stages complete (2 done, 1 running, 1 pending, 2 skipped)");
        let counts = WorkflowProgress { done: 3, failed: 1, cancelled: 2, ..none };
        assert_eq!(progress(&counts), "3/6 stages complete (3 done, 3 failed)");
    }
}
