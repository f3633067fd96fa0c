//! The state machine of a task. Every legal arrow is written out; everything else is an error.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::transition::{UnknownName, arrows, named};

named! {
    /// Where a task stands. "Blocked" and "ready" are not states: they are derived from the dependencies.
    pub enum TaskState: "task state" {
        /// Waits for its dependencies and for a runner.
        Queued = "queued",
        Running = "running",
        /// An agent asked a person something.
        Waiting = "waiting",
        /// A user put it on hold.
        Held = "held",
        /// Finished, as far as the tool itself observed.
        Done = "done",
        /// Given up; needs a person.
        Failed = "failed",
        Cancelled = "cancelled",
    }
}

named! {
    pub enum TaskMove: "task move" {
        /// A runner claimed it.
        Start = "start",
        Finish = "finish",
        /// Its run failed and the policy gives up.
        Fail = "fail",
        /// Its run ended without a verdict, or failed and the policy tries again.
        Requeue = "requeue",
        Ask = "ask",
        Hold = "hold",
        Release = "release",
        Cancel = "cancel",
        Retry = "retry",
        /// A person has more to say about it, however it ended, or answers its question.
        Reopen = "reopen",
    }
}

arrows! {
    TaskState by TaskMove, first Queued;
    Queued, Start => Running;
    Queued, Hold => Held;
    Held, Release => Queued;
    Running, Finish => Done;
    Running, Fail => Failed;
    Running, Requeue => Queued;
    Running, Ask => Waiting;
    Queued | Running | Waiting | Held | Failed, Cancel => Cancelled;
    Failed | Cancelled | Waiting | Held, Retry => Queued;
    Done | Failed | Cancelled | Waiting, Reopen => Queued;
}

impl TaskState {
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
            Self::Hold => "held",
            Self::Release => "released",
            Self::Cancel => "cancelled",
            Self::Retry => "retried",
            Self::Reopen => "resumed",
        }
    }
}
