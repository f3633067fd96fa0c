use fleet_core::id::BatchId;
use fleet_core::run::RunReport;
use fleet_core::task::TaskState;
use std::path::PathBuf;

use crate::prelude::*;
use crate::views::{EventView, MessageView, RunLoad, RunView};

/// Shows everything about a run, and what to do next.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The run: its id, the id of its task, or its branch
    pub id: String,
}

/// A run with what surrounds it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The run.
    #[serde(flatten)]
    pub run: RunView,
    /// What its task is called; nothing, if that was deleted.
    pub title: Option<String>,
    /// The state of its task; nothing, if that was deleted.
    pub task_state: Option<TaskState>,
    /// The batch of its task.
    pub batch: Option<BatchId>,
    /// How often its task was started.
    pub attempts: i64,
    /// How often its task may be started, if every attempt fails.
    pub attempts_allowed: i64,
    /// Its repository.
    pub project_name: String,
    /// The branches with whose work its task starts: those of the tasks before it, unless its `base` says otherwise.
    #[serde(default)]
    pub starts_from: Vec<String>,
    /// What its agent declared.
    pub report: Option<RunReport>,
    /// What was found in the end, in the shape of `result.json`.
    pub result: Option<serde_json::Value>,
    /// What it uses of this machine, if it runs here.
    pub load: Option<RunLoad>,
    /// Its newest notes, progress, errors and stops, oldest of them first.
    pub notes: Vec<EventView>,
    /// The newest messages that it took, or that wait for it, oldest of them first.
    pub messages: Vec<MessageView>,
    /// What is kept of its workspace, oldest first.
    pub snapshots: Vec<SnapshotView>,
    /// The end of what the set-up commands printed, if they failed.
    pub setup_log: Vec<String>,
    /// What is kept of it on this machine.
    pub files: Vec<StoredFile>,
    /// What to do next, most useful first; commands in backquotes.
    pub next: Vec<String>,
}

/// A snapshot of a workspace.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SnapshotView {
    pub name: String,
    pub number: u64,
    pub commit: String,
    pub why: String,
    pub at: Moment,
}

/// A file that is kept of a run.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct StoredFile {
    pub path: PathBuf,
    pub bytes: u64,
}

verb!("run.show", Request => Answer, Reads, Own, |request| vec![Subject::Run(&mut request.id)]);
