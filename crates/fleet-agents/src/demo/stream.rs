//! The lines that the demo agent prints: one JSON object each.

use fleet_core::run::Reason;
use serde::{Deserialize, Serialize};

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields speak for themselves, and docs/demo-agent.md has each")]
pub enum Line {
    /// The first line.
    Session { id: String },
    /// It says something.
    Text { text: String },
    /// It thinks something.
    Thinking { text: String },
    /// It uses a tool.
    Tool { id: String, name: String, input: String, files: Vec<String> },
    /// The tool is through.
    ToolResult { id: String, ok: bool, output: String, files: Vec<String> },
    /// What the last steps used.
    Usage { input: u64, output: u64, micro_usd: u64 },
    /// Its pretended provider wants it to wait.
    RateLimit { wait_ms: u64 },
    /// It asks a person.
    Question { text: String },
    /// Its pretended provider failed.
    Error { reason: Reason, text: String },
    /// The last line: prose with a report in it.
    Result { text: String },
}
