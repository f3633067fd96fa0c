use crate::prelude::*;

/// Makes a branch from a snapshot of a run, and never moves one that is there.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// A run, a task or a branch.
    pub id: String,
    /// The name of the branch to make, which must be free; a free one is found, if left out.
    pub branch: Option<String>,
    /// Which snapshot of the run; the last one, if left out.
    pub snapshot: Option<u64>,
}

/// What was brought back.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    pub run: String,
    pub branch: String,
    pub commit: String,
    pub snapshot: u64,
    pub restored: bool,
}

verb!("undo", Request => Answer, Adds, People);
