//! What an agent did or said, in words that all agents share.
//!
//! Decoders make these events, the keeper stores them, and `fleet logs`, `fleet events` and `fleet agents decode` show
//! them. A kind is a variant here and its line in [`AgentEvent::names`]; nothing else lists the kinds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Fact;
use super::when::When;
use crate::run::{AgentState, Reason};
use crate::text::shorten;
use crate::time::Millis;

/// One thing that an agent did or said. `kind` is its name in `fleet agents decode`; an alias is its name in the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AgentEvent {
    /// The conversation has an id, by which a later run can continue it.
    #[serde(rename = "session")]
    SessionStarted { session: String },
    /// The directory that the agent says it works in.
    WorksIn { directory: String },
    /// The full name of the model that answers.
    Model { model: String },
    /// It said something.
    #[serde(alias = "run.said")]
    Text { text: String },
    /// It thought something, as far as it shows that.
    #[serde(alias = "run.thought")]
    Reasoning { text: String },
    /// It began to use a tool. The id ties the result to the call; the summary is one line.
    #[serde(alias = "run.used_tool")]
    ToolCall {
        #[serde(default)]
        id: String,
        name: String,
        summary: String,
        files: Vec<String>,
    },
    /// A tool ended. The id is empty if the agent does not name the call.
    ToolResult { id: String, ok: bool, summary: String, files: Vec<String> },
    /// Tokens were used.
    Usage { tokens: Tokens, counted: Counted },
    /// Money was spent, by the agent's own account: millionths of a US dollar.
    Cost { micro_usd: u64, counted: Counted },
    /// The provider limits the account, until a moment if the agent names one.
    #[serde(alias = "run.limited")]
    RateLimit { until: Option<When>, text: String },
    /// The agent retries a request by itself.
    #[serde(alias = "run.retrying")]
    Retry { attempt: Option<u32>, wait_ms: Option<u64>, text: String },
    /// The agent wanted to use a tool and was not allowed to.
    #[serde(alias = "run.denied")]
    Denied { tool: String, text: String },
    /// Something went wrong. Only the decoder's `failure` says whether that ended the run; but an agent whose error is
    /// [`Reason::is_hopeless`] is stopped at once, so those are only for what the provider itself refused.
    #[serde(alias = "run.error")]
    Error { reason: Reason, text: String },
    /// Something that people may want to know and that did not go wrong.
    #[serde(alias = "run.warned")]
    Warning { text: String },
    /// It asks a person and does not continue without an answer.
    Question { text: String },
    /// It says that it is done, with its last message. The process may live on for a while.
    Ended { text: Option<String> },
    /// What an agent in a terminal is doing now, and how that is known. `text` is what it asks, if it asks something.
    #[serde(alias = "run.agent_state")]
    State {
        state: AgentState,
        #[serde(default)]
        text: String,
        evidence: String,
    },
    /// It got a prompt, from us or from a person at its terminal.
    #[serde(alias = "run.took_prompt")]
    Prompted { text: String },
    /// A line that the adapter does not understand, with replacement characters where it is not text. `cut` says that the
    /// raw log has more of it.
    #[serde(alias = "run.raw")]
    Raw {
        #[serde(default)]
        stream: Stream,
        text: String,
        #[serde(default)]
        cut: bool,
    },
    /// A part of the output was not kept. Only a reader of a log finds this.
    Gap { bytes: u64 },
}

/// Where a line came from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Stream {
    /// Standard output.
    #[default]
    #[serde(rename = "stdout")]
    Out,
    /// Standard error.
    #[serde(rename = "stderr")]
    Err,
}

/// Tokens by kind; no token is counted in two of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Tokens {
    /// Read by the model, cached ones not counted.
    pub input: u64,
    /// Written by the model.
    pub output: u64,
    /// Read from the provider's cache.
    pub cache_read: u64,
    /// Written to the provider's cache.
    pub cache_write: u64,
}

/// Whether a number of tokens or an amount of money is new or a total: agents differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Counted {
    /// Since the last such event: to be added.
    Delta,
    /// Of the run so far: replaces what was known.
    Total,
}

impl Counted {
    /// The sum after one more number was reported.
    #[must_use]
    pub const fn after(self, before: u64, reported: u64) -> u64 {
        match self {
            Self::Delta => before.saturating_add(reported),
            Self::Total => reported,
        }
    }
}

impl Tokens {
    /// Everything that the model read, cached or not.
    #[must_use]
    pub const fn all_input(self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    #[must_use]
    pub const fn less(self, others: Self) -> Self {
        Self {
            input: self.input.saturating_sub(others.input),
            output: self.output.saturating_sub(others.output),
            cache_read: self.cache_read.saturating_sub(others.cache_read),
            cache_write: self.cache_write.saturating_sub(others.cache_write),
        }
    }

    /// The sum after more tokens were reported.
    #[must_use]
    pub const fn then(self, reported: Self, counted: Counted) -> Self {
        Self {
            input: counted.after(self.input, reported.input),
            output: counted.after(self.output, reported.output),
            cache_read: counted.after(self.cache_read, reported.cache_read),
            cache_write: counted.after(self.cache_write, reported.cache_write),
        }
    }
}

/// The longest raw line that becomes an event; the log has the rest.
const LONGEST_RAW: usize = 4 * 1024;
/// A longer text is cut before it is stored; the raw log has all of it.
const LONGEST_STORED: usize = 4 * 1024;
/// Fields that the store does not keep: without the results of tools an id says nothing.
const NOT_STORED: [&str; 3] = ["id", "stream", "cut"];
/// Fields that `fleet logs --json` leaves out: other fields, or words, say as much.
const NOT_LOGGED: [&str; 8] = ["id", "stream", "tokens", "counted", "until", "attempt", "wait_ms", "tool"];

impl AgentEvent {
    /// The names of its kind in a log and in the store; empty where it does not appear.
    const fn names(&self) -> (&'static str, &'static str) {
        match self {
            Self::SessionStarted { .. } => ("session", ""),
            Self::WorksIn { .. } | Self::Model { .. } | Self::Cost { .. } => ("", ""),
            Self::Text { .. } => ("text", "run.said"),
            Self::Reasoning { .. } => ("thought", "run.thought"),
            Self::ToolCall { .. } => ("tool", "run.used_tool"),
            Self::ToolResult { .. } => ("tool_result", ""),
            Self::Usage { .. } => ("usage", ""),
            Self::RateLimit { .. } => ("trouble", "run.limited"),
            Self::Retry { .. } => ("trouble", "run.retrying"),
            Self::Denied { .. } => ("trouble", "run.denied"),
            Self::Error { .. } => ("error", "run.error"),
            Self::Warning { .. } => ("trouble", "run.warned"),
            Self::Question { .. } => ("question", ""),
            Self::Ended { .. } => ("end", ""),
            Self::State { .. } => ("state", "run.agent_state"),
            Self::Prompted { .. } => ("prompt", "run.took_prompt"),
            Self::Raw { .. } => ("line", "run.raw"),
            Self::Gap { .. } => ("gap", ""),
        }
    }

    pub const fn is_logged(&self) -> bool {
        !self.names().0.is_empty()
    }

    /// Whether logs show it as trouble: the agent waits, was refused something, or retries.
    pub fn is_trouble(&self) -> bool {
        self.names().0 == "trouble"
    }

    /// A line that was not understood. An empty line is not an event.
    pub fn raw(stream: Stream, line: &[u8], cut: bool) -> Option<Self> {
        let line = line.trim_ascii_end();
        if line.is_empty() && !cut {
            return None;
        }
        // Cut before it is made text: what is not UTF-8 grows threefold.
        let kept = &line[..line.len().min(LONGEST_RAW)];
        let mut text = String::from_utf8_lossy(kept).into_owned();
        shorten(&mut text, LONGEST_RAW);
        Some(Self::Raw { stream, text, cut: cut || kept.len() < line.len() })
    }

    /// What the store keeps of it: short texts, and moments by the clock. Some events are only in the raw log.
    pub fn fact(mut self, moment: impl FnOnce(When) -> Millis) -> Option<Fact> {
        match &mut self {
            Self::ToolCall { name: tool, summary: text, .. } | Self::Denied { tool, text } => {
                shorten(tool, LONGEST_STORED);
                shorten(text, LONGEST_STORED);
            }
            Self::RateLimit { until, text } => {
                *until = until.take().map(|until| When::At(moment(until)));
                shorten(text, LONGEST_STORED);
            }
            Self::State { text, evidence, .. } => {
                shorten(text, LONGEST_STORED);
                shorten(evidence, LONGEST_STORED);
            }
            Self::Text { text }
            | Self::Reasoning { text }
            | Self::Prompted { text }
            | Self::Retry { text, .. }
            | Self::Error { text, .. }
            | Self::Warning { text }
            | Self::Raw { text, .. } => shorten(text, LONGEST_STORED),
            Self::SessionStarted { .. }
            | Self::WorksIn { .. }
            | Self::Model { .. }
            | Self::ToolResult { .. }
            | Self::Usage { .. }
            | Self::Cost { .. }
            | Self::Question { .. }
            | Self::Ended { .. }
            | Self::Gap { .. } => return None,
        }
        Some(Fact::Agent(self))
    }

    /// What happened, in one line for lists.
    pub fn headline(&self) -> Option<&str> {
        match self {
            Self::Text { text } | Self::Raw { text, .. } => {
                text.lines().rev().find(|line| !line.trim().is_empty())
            }
            Self::ToolCall { summary: text, .. }
            | Self::Error { text, .. }
            | Self::Warning { text }
            | Self::RateLimit { text, .. }
            | Self::Retry { text, .. } => Some(text),
            _ => None,
        }
    }

    /// Its line in `fleet logs --json`; `trouble` is the text of an event that logs show as trouble.
    pub fn log_line(&self, trouble: Option<String>) -> Value {
        let mut fields = self.fields();
        fields.retain(|name, _| !NOT_LOGGED.contains(&name.as_str()));
        fields.insert("kind".to_owned(), self.names().0.into());
        if let Self::Usage { tokens, .. } = self {
            fields.insert("input".to_owned(), tokens.all_input().into());
            fields.insert("output".to_owned(), tokens.output.into());
        }
        if let Some(text) = trouble {
            fields.insert("text".to_owned(), text.into());
        }
        fields.into()
    }

    /// Its name and fields in the store.
    pub(super) fn parts(&self) -> (String, String) {
        let mut data = self.fields();
        data.retain(|name, _| name != "kind" && !NOT_STORED.contains(&name.as_str()));
        (self.names().1.to_owned(), Value::Object(data).to_string())
    }

    /// Reads back what [`AgentEvent::parts`] gave, in this version or an earlier one.
    pub(super) fn from_parts(kind: &str, data: &Value) -> Option<Self> {
        let mut fields = data.as_object().filter(|_| kind.starts_with("run."))?.clone();
        fields.insert("kind".to_owned(), kind.into());
        serde_json::from_value(fields.into()).ok()
    }

    fn fields(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(fields)) => fields,
            // A tagged enum of plain fields is always an object.
            _ => Map::new(),
        }
    }
}
