use fleet_core::message::{MessageKind, Reception};

use crate::prelude::*;
use crate::views::{MessageView, TaskView};

/// Sends a message to the agent of a task, before, during or after its run.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The id of a task or a run, the beginning of it, or a branch.
    pub id: String,
    /// What is said.
    pub text: String,
    /// As what kind of message.
    pub kind: MessageKind,
}

/// What was kept, and where it goes.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The task, as it is now.
    pub task: TaskView,
    /// The run that works on it.
    pub run: Option<RunId>,
    /// The agent of that run.
    pub agent: Option<String>,
    /// What was kept.
    pub prompt: MessageView,
    /// Where it goes.
    pub reception: Reception,
}

verb!("run.prompt", Request => Answer, Adds, Own);
