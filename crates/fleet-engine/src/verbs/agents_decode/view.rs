//! Events of agents as JSON, with everything that they hold.

use fleet_agents::{AgentEvent, Counted, Stream, When};
use fleet_core::run::Reason;
use serde::Serialize;

use super::TokensView;
use crate::views::Moment;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields are those of AgentEvent; docs/json.md describes each")]
pub enum EventView {
    Session { session: String },
    WorksIn { directory: String },
    Model { model: String },
    Text { text: String },
    Reasoning { text: String },
    ToolCall { id: String, name: String, input: String, files: Vec<String> },
    ToolResult { id: String, ok: bool, summary: String, files: Vec<String> },
    Usage { tokens: TokensView, counted: &'static str },
    Cost { micro_usd: u64, counted: &'static str },
    RateLimit { until: Option<WhenView>, text: String },
    Retry { attempt: Option<u32>, wait_ms: Option<u64>, text: String },
    Denied { tool: String, text: String },
    Error { reason: Reason, text: String },
    Warning { text: String },
    Question { text: String },
    Ended { text: Option<String> },
    Raw { stream: &'static str, text: String, cut: bool },
}

/// A moment in the future, as it was told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WhenView {
    /// At this moment.
    At(Moment),
    /// After so many milliseconds.
    AfterMs(u64),
    /// At this time in the zone of the machine.
    Local(String),
}

impl From<When> for WhenView {
    fn from(when: When) -> Self {
        match when {
            When::At(at) => Self::At(Moment(at)),
            When::After(span) => Self::AfterMs(millis(span)),
            When::Local(time) => Self::Local(time.to_string()),
        }
    }
}

fn millis(span: std::time::Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

const fn counted(counted: Counted) -> &'static str {
    match counted {
        Counted::Delta => "delta",
        Counted::Total => "total",
    }
}

impl From<&AgentEvent> for EventView {
    fn from(event: &AgentEvent) -> Self {
        match event.clone() {
            AgentEvent::SessionStarted { session } => Self::Session { session },
            AgentEvent::WorksIn { directory } => Self::WorksIn { directory },
            AgentEvent::Model { model } => Self::Model { model },
            AgentEvent::Text { text } => Self::Text { text },
            AgentEvent::Reasoning { text } => Self::Reasoning { text },
            AgentEvent::ToolCall { id, name, input_summary, files } => {
                Self::ToolCall { id, name, input: input_summary, files }
            }
            AgentEvent::ToolResult { id, ok, summary, files } => Self::ToolResult { id, ok, summary, files },
            AgentEvent::Usage { tokens, counted: of } => {
                Self::Usage { tokens: tokens.into(), counted: counted(of) }
            }
            AgentEvent::Cost { micro_usd, counted: of } => Self::Cost { micro_usd, counted: counted(of) },
            AgentEvent::RateLimit { until, text } => {
                Self::RateLimit { until: until.map(WhenView::from), text }
            }
            AgentEvent::Retry { attempt, wait, text } => {
                Self::Retry { attempt, wait_ms: wait.map(millis), text }
            }
            AgentEvent::Denied { tool, text } => Self::Denied { tool, text },
            AgentEvent::Error { reason, text } => Self::Error { reason, text },
            AgentEvent::Warning { text } => Self::Warning { text },
            AgentEvent::Question { text } => Self::Question { text },
            AgentEvent::Ended { text } => Self::Ended { text },
            AgentEvent::Raw { stream, text, cut } => {
                let stream = if stream == Stream::Out { "stdout" } else { "stderr" };
                Self::Raw { stream, text, cut }
            }
        }
    }
}
