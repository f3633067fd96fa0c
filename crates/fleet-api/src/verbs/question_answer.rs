use crate::prelude::*;
use crate::views::{QuestionView, TaskView};

/// Answers a question of an agent. The first answer counts.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The id of the question; or its task, by id or branch, if that has one open question.
    pub id: String,
    /// The number of an option, or its text; any text, if there are no options.
    pub answer: String,
    /// Take the answer as it is, even if there are options.
    pub own_words: bool,
}

/// A question with its answer, and what follows.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The question.
    pub question: QuestionView,
    /// Its task, as it is now.
    pub task: TaskView,
    /// The run that works on it, if one does.
    pub run: Option<RunId>,
    /// How many other questions of the task are open: it continues when all are answered.
    pub open: usize,
}

verb!("question.answer", Request => Answer, Adds, People);
