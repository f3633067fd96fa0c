use crate::prelude::*;
use crate::views::MessageView;

/// Lists messages to agents, and how far each came.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// All messages to the agents of these tasks: ids, branches, batches or patterns. If left out, those of the project that
    /// no agent has seen.
    pub ids: Vec<String>,
}

/// The messages, oldest first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    pub messages: Vec<ListedMessage>,
    /// Whether there are more, which are older.
    pub more: bool,
}

/// A message, and whom it is for.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ListedMessage {
    #[serde(flatten)]
    pub message: MessageView,
    pub task: TaskId,
    pub branch: String,
}

verb!("run.prompt.list", Request => Answer, Reads, Own, |request| Subject::tasks(&mut request.ids));
