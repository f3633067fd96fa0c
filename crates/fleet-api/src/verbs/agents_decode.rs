use fleet_core::event::{AgentEvent, Tokens, When};
use fleet_core::run::Reason;
use std::collections::BTreeSet;

use crate::prelude::*;

/// Decodes a recorded stream of an agent. Nothing is stored.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The agent.
    pub agent: String,
    /// The model it used.
    pub model: Option<String>,
    /// Its exit status.
    #[serde(default)]
    pub exit_code: i32,
    /// What it wrote to standard output.
    pub out: String,
    /// What it wrote to standard error.
    #[serde(default)]
    pub err: String,
}

/// What a recording means.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The agent.
    pub agent: String,
    /// Its own id of the conversation.
    pub session: Option<String>,
    /// Whether the agent itself reported that it finished.
    pub ended: bool,
    /// How it came out.
    pub outcome: OutcomeView,
    /// What was used, in all.
    pub usage: Tokens,
    /// What it cost by the agent's own account, in millionths of a US dollar; null if it reports none.
    pub micro_usd: Option<u64>,
    /// What the agent's own counters stand at, if they count over the whole conversation.
    pub meter: Option<MeterView>,
    /// The last thing that it said.
    pub final_text: Option<String>,
    /// The files that its tools named, without those of tools that failed or were denied.
    pub files: BTreeSet<String>,
    /// How often it retried a request on its own.
    pub retries: usize,
    /// How often it was not allowed to use a tool.
    pub denied: usize,
    /// How many lines there were.
    pub lines: usize,
    /// How many of them the adapter did not understand.
    pub unknown_lines: usize,
    /// How many events were left out, because there were too many.
    pub events_left_out: usize,
    /// The events, in order.
    pub events: Vec<AgentEvent>,
}

/// The outcome of the agent's work, as far as its stream shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OutcomeView {
    /// Whether nothing is known to have gone wrong.
    pub ok: bool,
    /// What went wrong.
    pub reason: Option<Reason>,
    /// The agent's words.
    pub text: Option<String>,
    /// When it is worth trying again.
    pub until: Option<When>,
}

/// Counters of a whole conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MeterView {
    /// Tokens.
    pub tokens: Tokens,
    /// Millionths of a US dollar.
    pub micro_usd: u64,
}

verb!("agents.decode", Request => Answer, Reads, All);
