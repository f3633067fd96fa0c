use crate::prelude::*;

/// Starts the runner in the background after work was queued, unless one is up or `autostart` is off.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {}

/// What was done.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// Whether a runner will start what was queued.
    pub runner: RunnerPresence,
}

/// Whether a runner is up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunnerPresence {
    /// One is up.
    Up,
    /// One was started in the background.
    Started,
    /// None is up, and none may be started.
    Off,
}

verb!("runner.wake", Request => Answer, Adds, All);
