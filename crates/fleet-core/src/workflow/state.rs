//! The state machine of a workflow. Every legal arrow is written out; everything else is an error.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::transition::{IllegalTransition, UnknownName, named};

named! {
    /// Where a workflow stands.
    pub enum WorkflowState: "workflow state" {
        /// Stages run or will run.
        Running = "running",
        /// Somebody does not want it any more, and some of its stages have not ended yet.
        Cancelling = "cancelling",
        /// All that had to be done is done.
        Succeeded = "succeeded",
        /// A stage failed that it cannot do without.
        Failed = "failed",
        /// Somebody did not want it any more.
        Cancelled = "cancelled",
    }
}

named! {
    /// What can happen to a workflow.
    pub enum WorkflowMove: "workflow move" {
        /// Its stages are over, and all is well.
        Succeed = "succeed",
        /// Its stages are over, and it cannot be called done.
        Fail = "fail",
        /// Somebody does not want it any more.
        Cancel = "cancel",
        /// The last of its stages has ended after that.
        Settle = "settle",
        /// Somebody wants what failed or was not done to be tried again, or a stage to be done once more.
        Retry = "retry",
    }
}

impl WorkflowMove {
    /// What is done to a workflow, as in "it cannot be …".
    pub const fn participle(self) -> &'static str {
        match self {
            Self::Succeed => "finished",
            Self::Fail => "failed",
            Self::Cancel => "cancelled",
            Self::Settle => "settled",
            Self::Retry => "retried",
        }
    }
}

impl WorkflowState {
    /// The state after `event`, or why there is none.
    pub fn next(self, event: WorkflowMove) -> Result<Self, IllegalTransition<Self, WorkflowMove>> {
        use WorkflowMove as M;
        use WorkflowState as S;
        let to = match (self, event) {
            (S::Running, M::Succeed) => S::Succeeded,
            (S::Running, M::Fail) => S::Failed,
            (S::Running, M::Cancel) => S::Cancelling,
            (S::Cancelling, M::Settle) => S::Cancelled,
            (S::Succeeded | S::Failed | S::Cancelled, M::Retry) => S::Running,
            (from, event) => return Err(IllegalTransition { from, event }),
        };
        Ok(to)
    }

    /// Whether nothing will happen any more unless a person acts.
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Cancelled)
    }
}
