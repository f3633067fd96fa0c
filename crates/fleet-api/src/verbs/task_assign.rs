use crate::prelude::*;
use crate::views::TaskView;

/// Sets the agent and priority of a task, and whether it may start: all at once, or nothing.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The task.
    pub task: String,
    /// The agent.
    pub agent: Option<String>,
    /// Which model that uses. Without one, the model of another agent is forgotten.
    pub model: Option<String>,
    /// From 1 to 5; 5 is served first.
    pub priority: Option<i64>,
    /// Whether it may start.
    pub start: StartRule,
}

/// Whether a task may start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StartRule {
    /// As before.
    #[default]
    Unchanged,
    /// Not until it is released.
    Hold,
    /// As soon as its turn comes: a held one is released, a failed, cancelled or waiting one tried again.
    Queue,
}

/// The task as it is now, and what changed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The task.
    #[serde(flatten)]
    pub task: TaskView,
    /// The names of the fields that are different now; `state` if it was moved.
    pub changed: Vec<String>,
    /// Whether its agent can be started here; otherwise it waits for a runner elsewhere that can.
    pub agent_is_here: bool,
}

verb!("task.assign", Request => Answer, Adds, Own, |request| vec![Subject::Task(&mut request.task)]);
