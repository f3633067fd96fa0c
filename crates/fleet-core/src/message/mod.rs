//! Messages between people and the agent of a task, sent after the task was added.
//!
//! Owns where a message goes by the state of its task, which receipts it has, and what its kind means. A message is
//! stored before it is delivered; it counts as seen only when its agent has confirmed it, and a run that ends before
//! that leaves it to the next one.

mod kind;
mod question;
mod receipt;

use std::borrow::Cow;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use kind::{Channel, MessageKind};
pub use question::{
    AnswerRefusal, BY_DEFAULT, DefaultAnswer, GivenAnswer, MAX_OPEN, Question, QuestionDraft, TypedAnswer,
    numbered, waits_instead,
};
pub use receipt::{MessageMove, MessageState, Receipt, Receipts};

use crate::id::{RunId, TaskId};
use crate::run::{StopKind, StopRequest};
use crate::task::{PromptText, TaskState};
use crate::time::Millis;

/// Names a message: the task it is for, and its number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MessageId {
    /// The task whose agent it is for.
    pub task: TaskId,
    /// Counts from one in each task: messages are delivered in this order.
    pub seq: i64,
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.task, self.seq)
    }
}

/// A message to the agent of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub id: MessageId,
    pub kind: MessageKind,
    pub text: PromptText,
    /// The name of a user, or the id of the run whose agent said it.
    pub from: String,
    /// It is not delivered after this.
    pub expires_at: Option<Millis>,
    /// The run that took it last, to deliver it.
    pub taken_by: Option<RunId>,
    pub receipts: Receipts,
}

impl Message {
    pub fn is_expired(&self, now: Millis) -> bool {
        self.receipts.seen.is_none() && self.expires_at.is_some_and(|end| end <= now)
    }

    /// As part of the prompt that starts an agent.
    pub fn introduced(&self) -> String {
        self.introduce(self.text.as_str())
    }

    /// A text that stands for it where it is too long for the way to the agent.
    pub fn found_in(&self, file: &str, bytes: usize) -> String {
        self.introduce(&format!("the message has {bytes} bytes; read all of it in {file}"))
    }

    fn introduce(&self, text: &str) -> String {
        if self.kind == MessageKind::Answer {
            return text.to_owned();
        }
        match self.sender() {
            Some(run) => format!("Added by the agent of run {run}: {text}"),
            None => format!("{}: {text}", self.kind.introduction()),
        }
    }

    /// As a running agent gets it. Text without an introduction would look like a person's own words.
    pub fn delivered_text(&self) -> Cow<'_, str> {
        match self.sender() {
            Some(_) => Cow::Owned(self.introduced()),
            None => Cow::Borrowed(self.text.as_str()),
        }
    }

    /// The run whose agent said it; none if a person did.
    fn sender(&self) -> Option<RunId> {
        self.from.parse().ok()
    }
}

/// Where a message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[must_use]
pub enum Reception {
    /// To the run that is at work.
    Live,
    /// To the next run, which starts by itself.
    Kept,
    /// To the next run, which starts when a user releases the task.
    Held,
    /// To the next run: the task was over or waited for an answer, and is queued again for it.
    Reopened,
}

/// Why a task accepts no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MessageRefusal {
    /// A user is cancelling its run.
    #[error("it is being stopped")]
    IsStopping,
    /// Earlier messages are still undelivered.
    #[error("{MAX_WAITING} messages are already waiting for its agent")]
    TooMany,
}

/// At most this many messages of a task may wait: more than any number of people and programs says to an agent that reads
/// them. They are taken in batches, so this bounds what is stored, not memory.
pub const MAX_WAITING: usize = 1_000;

/// What decides where a message goes.
#[derive(Debug, Clone, Copy)]
pub struct Addressee<'a> {
    pub state: TaskState,
    /// The stop requested of its live run.
    pub stop: Option<&'a StopRequest>,
    /// How many messages already wait for its agent.
    pub waiting: usize,
}

/// Where a message of this kind goes.
pub fn receive(kind: MessageKind, to: Addressee<'_>) -> Result<Reception, MessageRefusal> {
    let reception = match to.state {
        TaskState::Running if to.stop.is_some_and(|stop| stop.kind == StopKind::Cancel) => {
            return Err(MessageRefusal::IsStopping);
        }
        TaskState::Running if kind.reaches(Channel::Input) => Reception::Live,
        TaskState::Running | TaskState::Queued => Reception::Kept,
        TaskState::Held => Reception::Held,
        TaskState::Waiting | TaskState::Done | TaskState::Failed | TaskState::Cancelled => {
            Reception::Reopened
        }
    };
    if to.waiting >= MAX_WAITING { Err(MessageRefusal::TooMany) } else { Ok(reception) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_message_goes() {
        let goes = |state| receive(MessageKind::Prompt, Addressee { state, stop: None, waiting: 0 });
        assert_eq!(goes(TaskState::Running), Ok(Reception::Live));
        assert_eq!(goes(TaskState::Queued), Ok(Reception::Kept));
        assert_eq!(goes(TaskState::Held), Ok(Reception::Held));
        assert_eq!(goes(TaskState::Waiting), Ok(Reception::Reopened), "the answer to its question");
        for state in TaskState::ALL.iter().filter(|state| state.is_settled()) {
            assert_eq!(goes(*state), Ok(Reception::Reopened), "{state}");
        }
    }

    #[test]
    fn what_is_not_wanted_any_more_takes_no_message() {
        let stop = |kind| StopRequest { kind, why: "why".to_owned() };
        let running = |stop: &StopRequest| {
            receive(
                MessageKind::Prompt,
                Addressee { state: TaskState::Running, stop: Some(stop), waiting: 0 },
            )
        };
        assert_eq!(running(&stop(StopKind::Cancel)), Err(MessageRefusal::IsStopping));
        assert_eq!(running(&stop(StopKind::Release)), Ok(Reception::Live), "it is tried again");
    }

    #[test]
    fn nobody_is_taken_for_a_person_who_is_none() {
        let message = |from: &str| -> Message {
            serde_json::from_value(serde_json::json!({
                "id": {"task": "t0skybe7ym6dd2w", "seq": 1}, "kind": "prompt", "text": "Go on", "from": from,
                "receipts": {"stored": 0},
            }))
            .unwrap()
        };
        let person = message("ada");
        assert_eq!(person.introduced(), "Added by the person who gave you this task: Go on");
        assert_eq!(person.delivered_text(), "Go on");
        let run: RunId = crate::id::IdMaker::default().next(Millis(1_800_000_000_000), 5);
        let agent = message(run.as_str());
        assert_eq!(agent.introduced(), format!("Added by the agent of run {run}: Go on"));
        assert_eq!(agent.delivered_text(), agent.introduced());
    }

    #[test]
    fn no_more_wait_than_can_be_held() {
        for state in [TaskState::Queued, TaskState::Running, TaskState::Done] {
            let with = |waiting| receive(MessageKind::Prompt, Addressee { state, stop: None, waiting });
            assert!(with(MAX_WAITING - 1).is_ok());
            assert_eq!(with(MAX_WAITING), Err(MessageRefusal::TooMany));
        }
        assert_eq!(MessageRefusal::TooMany.to_string(), "1000 messages are already waiting for its agent");
    }
}
