//! How what tasks left behind is shown, before it goes and after.

use crate::prelude::*;

/// Something that may go, or is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Leftover {
    pub task: TaskId,
    pub title: Option<String>,
    pub branch: Option<String>,
    /// Where the branch is: one that has moved since it was shown stays.
    pub commit: Option<String>,
    pub why: String,
    pub landed: bool,
    pub runs: Vec<RunId>,
}

impl Leftover {
    /// Whether this is what another answer showed: the same branch at the same commit, or folders of the same task.
    pub fn is_same(&self, other: &Self) -> bool {
        (self.task, &self.branch, &self.commit) == (other.task, &other.branch, &other.commit)
    }
}

/// Something that stays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Kept {
    pub task: TaskId,
    pub title: Option<String>,
    pub branch: Option<String>,
    pub why: String,
    /// Whether it was to go, and that failed.
    pub failed: bool,
}
