//! The lines that the demo agent prints: one JSON object each.

use fleet_core::run::Reason;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum DemoLine {
    Session {
        id: String,
    },
    Text {
        text: String,
    },
    Thinking {
        text: String,
    },
    Tool {
        id: String,
        name: String,
        input: String,
        files: Vec<String>,
    },
    ToolResult {
        id: String,
        ok: bool,
        output: String,
        files: Vec<String>,
    },
    /// What the last steps used.
    Usage {
        input: u64,
        output: u64,
        micro_usd: u64,
    },
    /// Its pretended provider wants it to wait.
    RateLimit {
        wait_ms: u64,
    },
    Question {
        text: String,
    },
    /// Its pretended provider failed.
    Error {
        reason: Reason,
        text: String,
    },
    Result {
        text: String,
    },
}
