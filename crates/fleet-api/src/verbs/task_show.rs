use fleet_core::task::TaskState;

use crate::prelude::*;
use crate::views::{EventView, MessageView, RunView, TaskView};

/// Shows one task with what surrounds it. An agent sees runs, messages and events only of what comes from its own task.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The task: its id, the id of one of its runs, or its branch
    pub id: String,
    /// Show its newest N events
    #[arg(long, value_name = "N", default_value_t = 10)]
    #[serde(default)]
    pub events: u32,
}

/// A task that this one waits for, or that waits for it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Neighbour {
    pub id: TaskId,
    pub state: TaskState,
}

/// A task with what surrounds it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The agent that it gets if it names none.
    #[serde(default)]
    pub default_agent: String,
    /// The task.
    #[serde(flatten)]
    pub task: TaskView,
    /// Its repository.
    pub project_name: String,
    /// What the workflow is called of which it is a stage.
    pub workflow_name: Option<String>,
    /// What it is called there.
    pub stage: Option<String>,
    /// What it waits or waited for.
    pub after: Vec<Neighbour>,
    /// The branches with whose work it starts: those of the tasks before it, unless `base` says otherwise.
    #[serde(default)]
    pub starts_from: Vec<String>,
    /// What waits for it.
    pub before: Vec<Neighbour>,
    /// Its runs, oldest first.
    pub runs: Vec<RunView>,
    /// Those of them that ended with a question to a person.
    #[serde(default)]
    pub asked: Vec<RunId>,
    /// The newest messages to its agent, oldest of them first.
    pub messages: Vec<MessageView>,
    /// The same, by their older name.
    pub prompts: Vec<MessageView>,
    /// Its newest events, oldest of them first.
    pub events: Vec<EventView>,
}

verb!("task.show", Request => Answer, Reads, Project, |request| vec![Subject::Task(&mut request.id)]);
