use fleet_core::conflict::Clash;

use crate::prelude::*;

/// Finds conflicts between tasks, and between a branch and where it should land.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// Only conflicts of these tasks
    #[arg(value_name = "TASK")]
    pub tasks: Vec<String>,
}

/// A task in a conflict.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ConflictSide {
    pub task: TaskId,
    pub title: String,
    pub status: String,
    pub branch: Option<String>,
}

/// The conflicts.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Conflict {
    /// `merge`: git cannot merge them; `files`: both changed the same files, and it can; `scope`: they claim the same.
    pub kind: Clash,
    /// Two tasks; or one, if it is in the way of where it should land.
    pub tasks: Vec<ConflictSide>,
    /// Where the one should land.
    pub with: Option<String>,
    /// Files: those that git cannot merge, that both changed, or that one changed and the other claims.
    pub files: Vec<String>,
    /// How many there are.
    pub file_count: u64,
    /// Patterns of the two that overlap.
    pub scopes: Vec<(String, String)>,
    /// What to do about it.
    pub advice: String,
}

/// A file that several tasks have changed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CrowdedFile {
    /// Its path.
    pub path: String,
    /// Which tasks.
    pub tasks: Vec<TaskId>,
}

/// A task whose work could not be looked at.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Unseen {
    /// Which.
    pub task: TaskId,
    /// Why.
    pub why: String,
}

/// The conflicts.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The worst first.
    pub conflicts: Vec<Conflict>,
    /// Files that several tasks have changed, those of most tasks first.
    pub files: Vec<CrowdedFile>,
    /// How many tasks were compared.
    pub looked_at: usize,
    /// How many pairs git was not asked about, because there were too many.
    pub unchecked: usize,
    /// Tasks whose work could not be looked at.
    pub unseen: Vec<Unseen>,
    /// Whether there are more tasks than were compared.
    pub more: bool,
}

verb!("conflicts", Request => Answer, Reads, Project, |request| Subject::tasks(&mut request.tasks));
