//! Shows one workflow with its stages.

mod stage;

use std::collections::BTreeMap;

use fleet_core::id::{IdPrefix, WorkflowId};
use fleet_core::problem::Outcome;
use fleet_core::run::Run;
use fleet_core::text::escaped;
use fleet_core::workflow::{PartState, Workflow, WorkflowState};
use fleet_store::ops::WorkflowDetail;
use fleet_store::{StoreError, ops};
use serde::Serialize;

pub(super) use stage::ranks;

use crate::views::{StageView, WorkflowView};
use crate::{Engine, problems};

/// A workflow with its stages.
#[derive(Debug, Clone, Serialize)]
pub struct Response {
    /// The workflow.
    #[serde(flatten)]
    pub workflow: WorkflowView,
    /// Its repository.
    pub project_name: String,
    /// What all of it is for.
    pub task: String,
    /// The values of its parameters.
    pub params: BTreeMap<String, String>,
    /// Its stages, each after those that it needs.
    pub stages: Vec<StageView>,
    /// What to do next, most useful first; commands in backquotes.
    pub next: Vec<String>,
}

impl Response {
    /// Whether nothing more happens to it unless a person acts.
    pub fn is_at_rest(&self) -> bool {
        let waits = |stage: &StageView| matches!(stage.status, "waiting" | "held");
        let mut running = self.stages.iter().filter(|stage| stage.state == PartState::Running).peekable();
        self.workflow.state.is_over()
            || (self.workflow.state == WorkflowState::Running
                && running.peek().is_some()
                && running.all(waits))
    }
}

/// How closely to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// Where everything stands.
    States,
    /// What came of it, too.
    Results,
}

/// Shows the workflow that somebody means.
pub async fn run(engine: &Engine, typed: &str) -> Outcome<Response> {
    look(engine, meant(engine, typed).await?, Depth::Results).await
}

/// The same without what agents said in the end, which may be long.
pub async fn glance(engine: &Engine, id: WorkflowId) -> Outcome<Response> {
    look(engine, id, Depth::States).await
}

/// So many workflows are looked at for a name, the newest first.
const MOST_NAMED: i64 = 10_000;

/// The workflow that somebody means: by its id or the beginning of that, or by its name, if only one has it. One that is
/// not over comes before those that are, and the directory's project before the others.
pub(super) async fn meant(engine: &Engine, typed: &str) -> Outcome<WorkflowId> {
    if let Ok(prefix) = IdPrefix::parse(typed) {
        match engine.store().await?.call(ops::ResolveWorkflow { prefix }).await {
            Err(StoreError::WorkflowNotFound(_)) => {}
            found => return found.map_err(problems::store),
        }
    }
    by_name(engine, typed).await
}

async fn by_name(engine: &Engine, typed: &str) -> Outcome<WorkflowId> {
    let here = match engine.repository() {
        Ok(_) => engine.known_project().await?.map(|project| project.id),
        Err(_) => None,
    };
    let list = ops::ListWorkflows { project: None, states: Vec::new(), before: None, limit: MOST_NAMED };
    let all = engine.call(list).await?.workflows.into_iter().map(|listed| listed.workflow);
    let mut named: Vec<Workflow> = all.filter(|workflow| workflow.name == typed).collect();
    prefer(&mut named, |workflow| Some(workflow.project) == here);
    prefer(&mut named, |workflow| !workflow.state.is_over());
    // What was typed is shown, not what it could be folded to.
    let shown = escaped(typed).into_owned();
    match named.as_slice() {
        [] => Err(problems::store(StoreError::WorkflowNotFound(shown))),
        [one] => Ok(one.id),
        several => {
            let matches = several.iter().take(5).map(|workflow| workflow.id.to_string()).collect();
            Err(problems::store(StoreError::Ambiguous { prefix: shown, matches }))
        }
    }
}

/// Leaves only those that are better, if there are any.
fn prefer(workflows: &mut Vec<Workflow>, is_better: impl Fn(&Workflow) -> bool) {
    if workflows.iter().any(&is_better) {
        workflows.retain(is_better);
    }
}

pub(super) async fn look(engine: &Engine, id: WorkflowId, depth: Depth) -> Outcome<Response> {
    let detail = engine.call(ops::GetWorkflow { id, with_results: depth == Depth::Results }).await?;
    let mut shown = shown(engine, &detail);
    if depth == Depth::Results {
        count(engine, &mut shown).await?;
    }
    Ok(shown)
}

/// What was read of a workflow, as it is shown.
pub(super) fn shown(engine: &Engine, detail: &WorkflowDetail) -> Response {
    let workflow = WorkflowView::from(&detail.workflow);
    let stages = stage::all(detail, engine.now());
    Response {
        next: next(&workflow, &stages),
        workflow,
        project_name: detail.project.name.clone(),
        task: detail.spec.task.clone(),
        params: detail.spec.params.clone(),
        stages,
    }
}

/// More attempts at one task than anybody makes.
const MOST_ATTEMPTS: i64 = 100;

/// What a stage used is what all attempts at it used; a glance shows only the newest.
pub async fn count(engine: &Engine, shown: &mut Response) -> Outcome<()> {
    for stage in shown.stages.iter_mut().filter(|stage| stage.attempts > 1) {
        let Some(task) = stage.task else { continue };
        let filter = ops::RunFilter { task: Some(task), ..Default::default() };
        let runs = engine.call(ops::ListRuns { filter, limit: MOST_ATTEMPTS }).await?;
        let used = |of: fn(&Run) -> u64| runs.iter().map(|listed| of(&listed.run)).sum();
        stage.input_tokens = used(|run| run.usage.input_tokens);
        stage.output_tokens = used(|run| run.usage.output_tokens);
        stage.micro_usd = used(|run| run.usage.micro_usd);
    }
    Ok(())
}

fn next(workflow: &WorkflowView, stages: &[StageView]) -> Vec<String> {
    let id = workflow.id;
    let mut next = Vec::new();
    match workflow.state {
        WorkflowState::Running => {
            next.extend(stages.iter().filter_map(unstuck));
            next.push(format!(
                "`fleet workflow watch {id}` follows it, `fleet workflow cancel {id}` stops it"
            ));
        }
        WorkflowState::Cancelling => {
            next.push(format!("`fleet workflow cancel {id}` waits until nothing of it runs any more"));
        }
        WorkflowState::Succeeded => {
            next.push(format!("`fleet workflow result {id}` shows what came of it, and how to take it"));
        }
        WorkflowState::Failed | WorkflowState::Cancelled => {
            let failed = stages.iter().find(|stage| stage.state == PartState::Failed);
            next.extend(failed.and_then(|stage| {
                Some(format!("`fleet why {}` tells why {} failed", stage.task?, stage.name))
            }));
            next.push(format!("`fleet workflow retry {id}` tries again what is not done"));
        }
    }
    next
}

/// What a person can do about a stage that waits for one.
fn unstuck(stage: &StageView) -> Option<String> {
    let task = stage.task?;
    match stage.status {
        "waiting" => Some(format!("{} asks something: `fleet show {task}` has the question", stage.name)),
        "held" => {
            Some(format!("{} was put aside: `fleet task release {task}` takes it up again", stage.name))
        }
        _ => None,
    }
}
