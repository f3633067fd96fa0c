use crate::prelude::*;
use crate::views::QueuePauseView;

/// Pauses the queue: no runner on any machine starts a task; running agents go on.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Only tasks of this agent
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Reason, shown to others
    #[arg(long, value_name = "TEXT", default_value = "paused by a user")]
    pub why: String,
    /// Only tasks of the project of the directory.
    #[arg(skip)]
    #[serde(default)]
    pub this_project: bool,
}

/// What is paused now.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// Whether anything changed.
    pub changed: bool,
    /// All pauses of the queue.
    pub paused: Vec<QueuePauseView>,
}

verb!("pause", Request => Answer, Adds, People);
