use fleet_core::task::TaskState;

use crate::prelude::*;

/// Finds running and queued tasks that match patterns, before they are stopped.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// Branches, ids, batches or patterns such as 'login-*'; or use --batch
    #[arg(value_name = "PATTERN", required_unless_present = "batch")]
    pub patterns: Vec<String>,
    /// The whole batch, in any repository; with PATTERN, only those of it
    #[arg(short, long, value_name = "ID")]
    pub batch: Option<String>,
    /// In every repository
    #[arg(short = 'A', long)]
    pub all_projects: bool,
}

/// What was found.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// Each task once, running ones first.
    pub targets: Vec<KillTarget>,
    /// Whether the queue is longer than what was looked at.
    pub more: bool,
}

/// Something that can be stopped.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct KillTarget {
    pub task: TaskId,
    pub title: String,
    pub state: TaskState,
    pub branch: String,
    pub run: Option<RunId>,
    pub agent: Option<String>,
}

verb!("run.kill.find", Request => Answer, Reads, Own, |request| Subject::tasks(&mut request.patterns));
