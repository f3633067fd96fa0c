//! Shows one run: what it is about, how it went, what it left, and what to do next.

pub(super) mod advice;
mod files;

use fleet_core::id::BatchId;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::run::{Reason, RunReport, RunState};
use fleet_core::task::TaskState;
use fleet_store::ops::{self, RunDetail};
use serde::Serialize;

pub use files::{SnapshotView, StoredFile};

use crate::Engine;
use crate::home::Home;
use crate::keeper::blocking;
use crate::load::Sampler;
use crate::views::{EventView, Load, RunView};

/// A run with what surrounds it.
#[derive(Debug, Clone, Serialize)]
pub struct Response {
    /// The run.
    #[serde(flatten)]
    pub run: RunView,
    /// What its task is called; nothing, if that was deleted.
    pub title: Option<String>,
    /// Where its task stands; nothing, if that was deleted.
    pub task_state: Option<TaskState>,
    /// The batch of its task.
    pub batch: Option<BatchId>,
    /// How often its task was started so far.
    pub attempts: i64,
    /// How often its task may be started, if every attempt fails.
    pub attempts_allowed: i64,
    /// Its repository.
    pub project_name: String,
    /// What its agent declared.
    pub report: Option<RunReport>,
    /// What was found in the end, in the shape of `result.json`.
    pub result: Option<serde_json::Value>,
    /// What it uses of this machine, if it is at work here.
    pub load: Option<Load>,
    /// Its newest notes, progress, errors and stops, oldest of them first.
    pub notes: Vec<EventView>,
    /// What is kept of its workspace, oldest first.
    pub snapshots: Vec<SnapshotView>,
    /// The end of what the set-up commands printed, if they failed.
    pub setup_log: Vec<String>,
    /// What is kept of it on this machine.
    pub files: Vec<StoredFile>,
    /// What to do next, most useful first; commands in backquotes.
    pub next: Vec<String>,
}

/// Events that tell how a run goes; everything else is in its log.
const NOTES: &[&str] = &[
    "run.note",
    "run.progress",
    "run.reported",
    "run.prompted",
    "run.error",
    "run.warned",
    "run.stopping",
    "run.omitted",
];
const MOST_NOTES: i64 = 20;

/// Shows the run that somebody means.
pub async fn run(engine: &Engine, id: &str) -> Outcome<Response> {
    let run = engine.run_id(id).await?;
    let detail = engine.call(ops::GetRun { run }).await?;
    // Without numbers they can be shown as well.
    let _ = engine.number_events().await;
    let notes = engine.call(ops::RunEventsOf { run, kinds: NOTES, limit: MOST_NOTES }).await?;
    let home = Home::new(engine.home());
    let (folder, vault, live) = (home.run(run), home.vault(&detail.project.common_dir), detail.run.clone());
    let is_setup = detail.run.reason == Some(Reason::SetupFailed);
    let (load, snapshots, files, setup_log) = blocking(move || {
        let load = Sampler::default().look(&home, &[live]).remove(&run);
        let setup_log = if is_setup { files::setup_log(&folder) } else { Vec::new() };
        (load, files::snapshots(&vault, run), files::kept(&folder), setup_log)
    })
    .await?;
    let result = match &detail.result {
        Some(text) => Some(serde_json::from_str(text).map_err(|error| {
            Problem::new(Code::StoreFailed, format!("the result of run {run} cannot be read: {error}"))
        })?),
        None => None,
    };
    let task = detail.task.as_ref();
    Ok(Response {
        next: advice::next(engine, &detail)?,
        run: RunView::from(&detail.run),
        title: task.map(|task| task.spec.title.to_string()),
        task_state: task.map(fleet_core::task::Task::state),
        batch: task.and_then(|task| task.spec.batch),
        attempts: task.map_or(detail.run.fence, |task| task.history.fence),
        attempts_allowed: task.map_or(detail.run.fence, |task| i64::from(task.spec.retry.retries) + 1),
        project_name: detail.project.name.clone(),
        report: detail.report.clone(),
        result,
        load,
        notes: notes.iter().map(EventView::from).collect(),
        snapshots,
        setup_log,
        files,
    })
}

/// The name by which people find a run again: short where there is a branch.
fn name(detail: &RunDetail) -> String {
    let is_newest = detail.task.as_ref().is_some_and(|task| task.history.fence == detail.run.fence);
    match &detail.run.branch {
        Some(branch) if is_newest && detail.run.state != RunState::Preparing => branch.clone(),
        _ => detail.run.id.to_string(),
    }
}
