use fleet_core::id::{RunId, TaskId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Subject;
use crate::verb::verb;

/// Stops the agents of tasks and cancels the tasks; what they did is kept.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The tasks, as `run.kill.find` found them.
    pub tasks: Vec<String>,
    /// Delete the branches, too. Their commits are kept for `undo`.
    pub discard: bool,
    /// How long to wait for runs to end and to be tidied up after, in milliseconds; if left out, until the work of their
    /// agents is safe.
    pub wait_millis: Option<u64>,
}

/// What became of them.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// In the order in which they were given.
    pub killed: Vec<Killed>,
}

/// What became of one.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "docs/json.md describes each field")]
pub struct Killed {
    pub task: TaskId,
    pub title: String,
    pub run: Option<RunId>,
    pub outcome: KillOutcome,
    pub detail: Option<String>,
    pub tidying: bool,
    pub branch: Option<String>,
    pub remarks: Vec<String>,
    pub discarded: bool,
    pub snapshot: Option<String>,
}

/// How it went with one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KillOutcome {
    /// Its agent was stopped.
    Stopped,
    /// Nobody worked on it: it will not start.
    Cancelled,
    /// It had come to an end by itself.
    Over,
    /// Its agent goes on.
    GoesOn,
}

verb!("run.kill", Request => Answer, Ends, Own, |request| Subject::tasks(&mut request.tasks));
