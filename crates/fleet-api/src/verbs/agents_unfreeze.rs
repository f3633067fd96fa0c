use crate::prelude::*;
use crate::views::QueuePauseView;

/// Lets every frozen agent of this home continue, and lifts the pause that freezing them has set.
#[derive(Debug, Clone, Copy, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {}

/// What was done.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// Whether agents were to be frozen.
    pub changed: bool,
    /// How many agents continue.
    pub continued: usize,
    /// What is still paused.
    pub paused: Vec<QueuePauseView>,
}

verb!("agents.unfreeze", Request => Answer, Adds, People);
