//! How prompts are shown.

use fleet_core::id::RunId;
use fleet_core::prompt::Prompt;
use fleet_core::text::shortened;
use serde::Serialize;

use super::Moment;

/// Something that was said to the agent of a task.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json.md describes each field")]
pub struct PromptView {
    pub number: i64,
    /// Its beginning, if it is long.
    pub text: String,
    pub by: String,
    pub at: Moment,
    /// The run that was given it last.
    pub run: Option<RunId>,
    /// When the agent of that run had it.
    pub sent_at: Option<Moment>,
}

/// A prompt may be as large as a description: whoever lists them wants to know which is which.
const LONGEST_TEXT: usize = 2_000;

impl From<&Prompt> for PromptView {
    fn from(prompt: &Prompt) -> Self {
        Self {
            number: prompt.seq,
            text: shortened(prompt.text.as_str(), LONGEST_TEXT).into_owned(),
            by: prompt.by.clone(),
            at: Moment(prompt.at),
            run: prompt.taken_by,
            sent_at: prompt.sent_at.map(Moment),
        }
    }
}
