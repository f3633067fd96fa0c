//! `runner.stop`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verb::verb;
use crate::verbs::runner_status::RunnerView;

/// Stops the runners of this home; agents go on unless they are to be stopped, too.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The agents as well: their tasks go back to the queue, and nothing counts against them.
    pub agents: bool,
    /// A runner is started again at once: should that fail, whoever misses it starts one.
    pub restart: bool,
}

/// What was stopped.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The runners that were up.
    pub runners: Vec<RunnerView>,
    /// Agents that go on without a runner.
    pub going_on: usize,
    /// Agents that were stopped.
    pub released: usize,
}

verb!("runner.stop", Request => Answer, Ends, People);
