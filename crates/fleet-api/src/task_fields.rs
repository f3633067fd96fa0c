//! What can be said about a task, when it is added and later.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ModeChoice;

/// The fields that a new task and an edited one share.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TaskFields {
    /// How urgent: 5 is served first, 1 last [default: `tasks.priority`, 3]
    #[arg(short, long, value_name = "1-5", allow_negative_numbers = true)]
    pub priority: Option<i64>,
    /// Files that it will touch: tasks whose scopes overlap never run together; may be repeated
    #[arg(long, value_name = "GLOB")]
    pub scope: Vec<String>,
    /// The agent [default: `agent`]
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<String>,
    /// The model [default: `agents.AGENT.model`]
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// A branch, tag or commit to start at [default: the work before it, or HEAD when it starts]
    #[arg(long, value_name = "REF")]
    pub base: Option<String>,
    /// The branch for the work, new or existing [default: made from the id]
    #[arg(long, value_name = "NAME")]
    pub branch: Option<String>,
    /// Limit of a run: time=30m, idle=10m, tokens=200k, usd=2.50, or e.g. usd=none; may be repeated
    #[arg(long = "limit", value_name = "LIMIT")]
    pub limits: Vec<String>,
    /// How often a failed run is retried [default: `tasks.retries`, 2]
    #[arg(long, value_name = "N")]
    pub retries: Option<u32>,
    /// A command that must succeed on the work before it is done, split into words without a shell; may be repeated
    #[arg(long = "check", value_name = "COMMAND")]
    pub checks: Vec<String>,
    /// How often work that fails its checks goes back to the agent [default: `tasks.check_retries`, 2]
    #[arg(long, value_name = "N")]
    pub check_retries: Option<u32>,
    /// Do not start it earlier: 2h (from now), 14:30, 2026-12-24, or RFC 3339
    #[arg(long, value_name = "TIME")]
    pub not_before: Option<String>,
    /// How big it is: trivial, small, medium, large, xl
    #[arg(long, value_name = "SIZE")]
    pub complexity: Option<String>,
    /// Your own metadata, `KEY=` removes an entry; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub meta: Vec<String>,
    /// Make no changes; none are required
    #[arg(long)]
    pub read_only: bool,
    /// Whether its agent runs in a terminal; without one, if a new task does not say so.
    #[command(flatten)]
    pub mode: ModeChoice,
    /// Everything its agent needs to know.
    #[arg(skip)]
    pub description: Option<String>,
}
