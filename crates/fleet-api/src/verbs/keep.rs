use fleet_core::outcome::CheckResult;

use crate::prelude::*;
use crate::views::{Kept, Leftover, TaskView};

/// Keeps one of several attempts at the same prompt and drops the others, whose work stays as snapshots.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The one to keep: its id or branch
    pub id: String,
    /// Only say what would go.
    #[arg(skip)]
    #[serde(default)]
    pub dry_run: bool,
    /// Drop at most these, which an answer before this one showed; all others, if left out.
    #[arg(skip)]
    #[serde(default)]
    pub confirmed: Option<Vec<TaskId>>,
}

/// What is kept, and what is gone or would be.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// Whether nothing was dropped on purpose.
    pub dry_run: bool,
    /// The one that is kept.
    pub keep: TaskView,
    /// Its branch.
    pub branch: String,
    /// The checks of its last run, as far as they were run.
    #[serde(default)]
    pub checks: Vec<CheckResult>,
    /// Those that had not finished and were stopped, or would be.
    pub stopped: Vec<TaskView>,
    /// What is gone, or would be; of those that are still to be stopped it is not known yet.
    pub removed: Vec<Leftover>,
    /// What stays, and why.
    pub kept: Vec<Kept>,
}

verb!("keep", Request => Answer, Ends, Own, |request| vec![Subject::Task(&mut request.id)]);
