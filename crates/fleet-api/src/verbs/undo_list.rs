use crate::prelude::*;

/// Lists snapshots of the work of agents, newest first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Only those of this run, of the runs of this task, or of this branch; otherwise the last one of each run of the
    /// project.
    pub id: Option<String>,
    /// At most N.
    pub limit: usize,
}

/// Some snapshots, newest first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The snapshots.
    pub snapshots: Vec<UndoSnapshot>,
    /// Whether there are more.
    pub more: bool,
}

/// A snapshot.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct UndoSnapshot {
    pub run: String,
    pub task: Option<TaskId>,
    pub title: Option<String>,
    pub branch: Option<String>,
    pub number: u64,
    pub why: String,
    pub at: Moment,
    pub commit: String,
    pub files: Option<usize>,
    pub on_branch: bool,
}

verb!("undo.list", Request => Answer, Reads, People);
