use crate::prelude::*;
use crate::views::QuestionView;

/// Asks people something for the agent of this run; with the same words, it is the same question until it is answered.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The question.
    pub text: String,
    /// The answers to choose from; any answer, if there are none.
    pub options: Vec<String>,
    /// The answer if nobody answers in time; needs `timeout_seconds`.
    pub default: Option<String>,
    /// When the default counts, from now.
    pub timeout_seconds: Option<u64>,
    /// Do not wait: the run ends now, and the task continues with the answer.
    pub park: bool,
}

verb!("question.ask", Request => QuestionView, Adds, Agents);
