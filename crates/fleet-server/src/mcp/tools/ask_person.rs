use fleet_api::verbs::{question_ask, question_receive, question_wait};
use fleet_engine::clock;

use super::MAX_WAIT;
use super::prelude::*;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The question, in a few sentences
    question: String,
    /// The answers to choose from; any answer if left out
    options: Option<Vec<String>>,
    /// The answer if nobody answers within default_after_seconds
    default: Option<String>,
    /// When the default counts
    default_after_seconds: Option<u64>,
    /// Do not wait: your run ends now with all work kept, and the task continues with the answer
    park: Option<bool>,
    /// Return after this time even without an answer; 50 if left out
    #[schemars(range(min = 0, max = MAX_WAIT.as_secs()))]
    timeout_seconds: Option<u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AskedPerson {
    question_id: String,
    /// answered, open or withdrawn
    state: String,
    answer: Option<String>,
    answered_by: Option<String>,
    /// What to do next
    note: String,
}

/// Shorter than clients wait for a tool.
const DEFAULT_SECONDS: u64 = 50;
/// A caller that leaves is noticed after this.
const WAIT_SECONDS: u64 = 5;

impl Tool for Args {
    type Answer = AskedPerson;
    const TITLE: &'static str = "Ask a person";
    const ABOUT: &'static str = "For an agent inside a run of codefleet: asks a person something and waits for the \
        answer. If it returns state open, call it again with the same question to keep waiting: it stays the same \
        question. Use park if you cannot go on without the answer and it may take long.";
    const NATURE: Nature = Nature::Adds;

    async fn run(self, call: Call) -> Outcome<AskedPerson> {
        let request = question_ask::Request {
            text: self.question,
            options: self.options.unwrap_or_default(),
            default: self.default,
            timeout_seconds: self.default_after_seconds,
            park: self.park.unwrap_or_default(),
        };
        let (began, parks) = (clock::uptime(), request.park);
        let longest = self.timeout_seconds.unwrap_or(DEFAULT_SECONDS);
        let mut asked = fleet_api::call(&call, None, &request).await?;
        while asked.state == "open" && !parks {
            let left = longest.saturating_sub(clock::uptime().saturating_sub(began).as_secs());
            if left == 0 {
                break;
            }
            let wait_seconds = Some(u32::try_from(left.min(WAIT_SECONDS)).unwrap_or(1));
            let wait = question_wait::Request { id: asked.id.clone(), wait_seconds };
            tokio::select! {
                looked = fleet_api::call(&call, None, &wait) => asked = looked?,
                () = call.abandoned() => break,
            }
        }
        if asked.state == "answered" {
            fleet_api::call(&call, None, &question_receive::Request { id: asked.id.clone() }).await?;
        }
        let note = note(&asked.state, parks).to_owned();
        let (question_id, state) = (asked.id, asked.state);
        Ok(AskedPerson { question_id, state, answer: asked.answer, answered_by: asked.answered_by, note })
    }
}

fn note(state: &str, parks: bool) -> &'static str {
    match (state, parks) {
        ("open", true) => "this run ends now, and the task continues with the answer",
        ("open", false) => {
            "nobody has answered yet: call it again with the same question, or end your turn, and the task \
             continues with the answer"
        }
        ("withdrawn", _) => "nobody will answer: decide yourself, and say so in your report",
        _ => "",
    }
}
