//! `agents.decode`

use std::collections::BTreeSet;

use fleet_core::run::Reason;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Moment;
use crate::verb::verb;

/// Tells what a recorded stream of an agent means. Nothing is stored.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The agent.
    pub agent: String,
    /// The model that it was told to use.
    #[serde(default)]
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
    pub usage: TokensView,
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
    pub events: Vec<EventView>,
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
    pub until: Option<WhenView>,
}

/// Tokens by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "docs/json.md describes each field")]
pub struct TokensView {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

/// Counters of a whole conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MeterView {
    /// Tokens.
    pub tokens: TokensView,
    /// Millionths of a US dollar.
    pub micro_usd: u64,
}

/// One event, with everything that it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(missing_docs, reason = "docs/json.md describes each field")]
pub enum EventView {
    Session { session: String },
    WorksIn { directory: String },
    Model { model: String },
    Text { text: String },
    Reasoning { text: String },
    ToolCall { id: String, name: String, input: String, files: Vec<String> },
    ToolResult { id: String, ok: bool, summary: String, files: Vec<String> },
    Usage { tokens: TokensView, counted: CountedView },
    Cost { micro_usd: u64, counted: CountedView },
    RateLimit { until: Option<WhenView>, text: String },
    Retry { attempt: Option<u32>, wait_ms: Option<u64>, text: String },
    Denied { tool: String, text: String },
    Error { reason: Reason, text: String },
    Warning { text: String },
    Question { text: String },
    Ended { text: Option<String> },
    Raw { stream: StreamView, text: String, cut: bool },
}

/// How an agent counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CountedView {
    /// From one message to the next.
    Delta,
    /// From the beginning.
    Total,
}

/// Where a line was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StreamView {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// A moment in the future, as it was told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WhenView {
    /// At this moment.
    At(Moment),
    /// After so many milliseconds.
    AfterMs(u64),
    /// At this time in the zone of the machine.
    Local(String),
}

verb!("agents.decode", Request => Answer, Reads, All);
