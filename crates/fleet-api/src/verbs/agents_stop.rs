use crate::prelude::*;

/// Stops every agent of this home now, and pauses the queue.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// How.
    pub how: StopAgents,
}

/// What becomes of the agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopAgents {
    /// They stand still where they are, until `agents.unfreeze`. Their keepers and leases live on.
    Freeze,
    /// They end. Their work is saved, and tasks that are not interactive go back to the queue.
    End,
}

/// What was done.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// How many agents are frozen now.
    pub frozen: usize,
    /// How many agents were ended.
    pub ended: usize,
    /// Runs whose keepers have not confirmed that their agents are frozen.
    pub unconfirmed: Vec<RunId>,
}

verb!("agents.stop", Request => Answer, Ends, People);
