//! How questions of agents are shown.

use fleet_core::message::{GivenAnswer, Question};
use fleet_core::text::shortened;

use crate::prelude::*;

/// A question of an agent to a person.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct QuestionView {
    /// Names it for `fleet answer`.
    pub id: String,
    pub task: TaskId,
    /// The run whose agent asked.
    pub run: Option<RunId>,
    /// Its beginning, if it is long.
    pub text: String,
    /// The answers to choose from, by number from 1; any text, if there are none.
    pub options: Vec<String>,
    /// The answer that counts if nobody answers in time.
    pub default: Option<String>,
    /// When it does.
    pub default_at: Option<Moment>,
    /// Its run ended with it: the answer queues the task again.
    pub parked: bool,
    pub asked_at: Moment,
    /// open, answered or withdrawn.
    pub state: String,
    pub answer: Option<String>,
    pub answered_by: Option<String>,
    pub answered_at: Option<Moment>,
}

/// Enough to answer it; `fleet logs` has the whole of a longer one.
const LONGEST_TEXT: usize = 4_000;

impl From<&Question> for QuestionView {
    fn from(question: &Question) -> Self {
        let state = match (&question.answer, question.withdrawn_at) {
            (Some(_), _) => "answered",
            (None, Some(_)) => "withdrawn",
            (None, None) => "open",
        };
        let given = question.answer.as_ref();
        Self {
            id: question.id.to_string(),
            task: question.id.task,
            run: question.run,
            text: shortened(question.text.as_str(), LONGEST_TEXT).into_owned(),
            options: question.options.clone(),
            default: question.default.as_ref().map(|default| default.text.clone()),
            default_at: question.default.as_ref().map(|default| Moment(default.at)),
            parked: question.is_parked,
            asked_at: Moment(question.asked_at),
            state: state.to_owned(),
            answer: given.map(|given: &GivenAnswer| given.text.clone()),
            answered_by: given.map(|given| given.by.clone()),
            answered_at: given.map(|given| Moment(given.at)),
        }
    }
}
