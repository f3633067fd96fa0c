use std::collections::BTreeSet;

use fleet_core::event::{AgentEvent, Tokens, When};
use fleet_core::run::Reason;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verb::verb;

/// Tells what a recorded stream of an agent means. Nothing is stored.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The agent.
    pub agent: String,
    /// The model that it was told to use.
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
    /// Whether the agent itself said that it is through.
    pub ended: bool,
    /// How it came out.
    pub outcome: OutcomeView,
    /// What was used, in all.
    pub usage: Tokens,
    /// What it cost by the agent's own account, in millionths of a US dollar; null if it does not tell.
    pub micro_usd: Option<u64>,
    /// What the agent's own counters stand at, if they count over the whole conversation.
    pub meter: Option<MeterView>,
    /// The last thing that it said.
    pub final_text: Option<String>,
    /// The files that its tools named, without those of tools that failed or were denied.
    pub files: BTreeSet<String>,
    /// How often it tried a request again by itself.
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

/// How the agent's work came out, as far as its stream tells.
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
