use crate::prelude::*;

/// Removes what a finished task left behind, but never unlanded work without a snapshot.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The task.
    pub task: String,
    /// What becomes of its branch.
    pub branch: BranchRule,
    /// What becomes of its prompts, logs and results.
    pub folders: FolderRule,
}

/// What becomes of a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BranchRule {
    /// It stays.
    Keep,
    /// It goes, if its work has landed or there is none.
    IfLanded,
    /// It goes; work that has not landed is kept as a snapshot.
    Discard,
}

/// What becomes of the folders of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FolderRule {
    /// They stay.
    Keep,
    /// They go.
    Remove,
}

/// What was done.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The branch that is gone now.
    pub branch_removed: Option<String>,
    /// The branch that is still there.
    pub branch_kept: Option<String>,
    /// How many folders are gone now.
    pub folders_removed: usize,
    /// Why something stays.
    pub remarks: Vec<String>,
    /// What could not be done.
    pub errors: Vec<String>,
}

verb!("task.clean", Request => Answer, Ends, Own, |request| vec![Subject::Task(&mut request.task)]);
