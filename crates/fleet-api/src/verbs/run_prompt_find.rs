use fleet_core::task::TaskState;

use crate::prelude::*;

/// Finds the tasks whose agents a pattern or a batch means, before they are prompted.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// A pattern for branches, or the id of a batch.
    pub pattern: String,
    /// Whether finished tasks are meant, too: a message reopens them.
    #[serde(default)]
    pub finished: bool,
}

/// What was found.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// Each task once.
    pub targets: Vec<PromptTarget>,
}

/// A task whose agent can be prompted.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PromptTarget {
    pub task: TaskId,
    pub branch: String,
    pub state: TaskState,
}

verb!("run.prompt.find", Request => Answer, Reads, Own, |request| vec![Subject::Task(&mut request.pattern)]);
