use fleet_core::event::AgentEvent;
use fleet_core::run::RunState;

use crate::Bytes;
use crate::prelude::*;

/// Reads what the agent of a run printed, decoded or byte for byte, and waits for more.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The id of a run; or a task, by its id or branch, which means its newest run.
    pub id: String,
    /// This attempt at the task instead of the newest.
    pub attempt: Option<i64>,
    /// What to read.
    pub stream: LogStream,
    /// Byte for byte instead of decoded.
    pub raw: bool,
    /// Of raw bytes, begin with the last N lines.
    pub last_lines: Option<u32>,
    /// `next` of the page before.
    pub after: Option<u64>,
    /// How long to wait for more; if left out, it reads what is there and returns.
    pub wait_seconds: Option<u32>,
}

/// What can be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogStream {
    /// Standard output, which is where agents say what they do.
    #[default]
    Out,
    /// Standard error.
    Err,
    /// The prompt that the agent was started with.
    Prompt,
    /// What the set-up commands of its workspace printed, which is never decoded.
    Setup,
}

/// A page of a log.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The run.
    pub run: RunId,
    /// What it did and said, if it was to be decoded.
    pub entries: Vec<AgentEvent>,
    /// What it printed, otherwise.
    pub pieces: Vec<OutputPiece>,
    /// `after` of the next page: a number of entries, or of bytes.
    pub next: u64,
    /// Whether there is more to be read at once.
    pub more: bool,
    /// Why nothing will come after this page, if that is so.
    pub end: Option<LogEnd>,
    /// Whether nothing was ever printed there.
    pub is_empty: bool,
    /// Whether the agent printed anything to standard error.
    pub has_errors: bool,
}

/// A piece of what an agent printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutputPiece {
    /// Bytes that follow each other.
    Bytes(Bytes),
    /// The number of bytes that were not kept.
    Gap(u64),
}

/// Why nothing more comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogEnd {
    /// The run ended so.
    Ended(RunState),
    /// The run ended with a question to a person.
    Asked,
    /// Its keeper is gone, and it has not been repaired yet.
    Deserted,
}

verb!("run.logs", Request => Answer, Reads, Own, |request| vec![Subject::Run(&mut request.id)]);
