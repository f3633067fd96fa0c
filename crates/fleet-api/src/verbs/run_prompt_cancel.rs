use crate::prelude::*;
use crate::views::MessageView;

/// Takes back a message that no agent has been given.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The task, by its id, its branch, or the id of a run.
    pub id: String,
    /// The number of the message.
    pub number: i64,
}

/// What was taken back.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The message, which has expired.
    pub prompt: MessageView,
}

verb!("run.prompt.cancel", Request => Answer, Ends, Own, |request| vec![Subject::Task(&mut request.id)]);
