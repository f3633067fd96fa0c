//! The state machine of a task. Every legal arrow is written out; everything else is an error.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::transition::{IllegalTransition, UnknownName, named};

named! {
    /// Where a task stands. "Blocked" and "ready" are not states: they are derived from the dependencies.
    pub enum TaskState: "task state" {
        /// Waits for its dependencies and for a runner.
        Queued = "queued",
        /// A run is at work on it.
        Running = "running",
        /// An agent asked a person something.
        Waiting = "waiting",
        /// A person put it aside.
        Held = "held",
        /// Finished, as far as the tool itself observed.
        Done = "done",
        /// Given up; needs a person.
        Failed = "failed",
        /// A person does not want it any more.
        Cancelled = "cancelled",
    }
}

named! {
    /// What can happen to a task.
    pub enum TaskMove: "task move" {
        /// A runner claimed it.
        Start = "start",
        /// Its run succeeded.
        Finish = "finish",
        /// Its run failed and the policy gives up.
        Fail = "fail",
        /// Its run ended without a verdict, or failed and the policy tries again.
        Requeue = "requeue",
        /// Its run asked a person something.
        Ask = "ask",
        /// A person answered.
        Answer = "answer",
        /// A person puts it aside.
        Hold = "hold",
        /// A person takes it up again.
        Release = "release",
        /// A person does not want it any more.
        Cancel = "cancel",
        /// A person wants it tried again, with a clean record.
        Retry = "retry",
        /// A person has more to say about it, however it ended.
        Reopen = "reopen",
    }
}

impl TaskState {
    /// The state after `event`, or why there is none.
    #[expect(clippy::match_same_arms, reason = "one arrow a line, to be read against the design")]
    pub fn next(self, event: TaskMove) -> Result<Self, IllegalTransition<Self, TaskMove>> {
        use TaskMove as M;
        use TaskState as S;
        let to = match (self, event) {
            (S::Queued, M::Start) => S::Running,
            (S::Queued, M::Hold) => S::Held,
            (S::Held, M::Release) => S::Queued,
            (S::Running, M::Finish) => S::Done,
            (S::Running, M::Fail) => S::Failed,
            (S::Running, M::Requeue) => S::Queued,
            (S::Running, M::Ask) => S::Waiting,
            (S::Waiting, M::Answer) => S::Queued,
            (S::Queued | S::Running | S::Waiting | S::Held | S::Failed, M::Cancel) => S::Cancelled,
            (S::Failed | S::Cancelled | S::Waiting | S::Held, M::Retry) => S::Queued,
            (S::Done | S::Failed | S::Cancelled, M::Reopen) => S::Queued,
            (from, event) => return Err(IllegalTransition { from, event }),
        };
        Ok(to)
    }

    /// Whether nothing will happen to the task any more unless a person acts.
    pub const fn is_settled(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled)
    }

    /// Whether tasks that depend on this one will not start unless a person acts.
    pub const fn dooms_dependents(self) -> bool {
        matches!(self, Self::Failed | Self::Cancelled)
    }
}

impl TaskMove {
    /// What is done to a task, as in "it cannot be …".
    pub const fn participle(self) -> &'static str {
        match self {
            Self::Start => "started",
            Self::Finish => "finished",
            Self::Fail => "failed",
            Self::Requeue => "queued again",
            Self::Ask => "made to wait",
            Self::Answer => "answered",
            Self::Hold => "held",
            Self::Release => "released",
            Self::Cancel => "cancelled",
            Self::Retry => "retried",
            Self::Reopen => "taken up again",
        }
    }
}
