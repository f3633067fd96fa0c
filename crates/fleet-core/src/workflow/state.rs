//! The state machine of a workflow. Every legal arrow is written out; everything else is an error.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::transition::{UnknownName, arrows, named};

named! {
    pub enum WorkflowState: "workflow state" {
        Running = "running",
        /// A user cancelled it, and some of its stages have not ended yet.
        Cancelling = "cancelling",
        Succeeded = "succeeded",
        /// A stage failed that the workflow needs.
        Failed = "failed",
        Cancelled = "cancelled",
    }
}

named! {
    pub enum WorkflowMove: "workflow move" {
        Succeed = "succeed",
        /// Its stages ended, and it is not done.
        Fail = "fail",
        Cancel = "cancel",
        /// The last of its stages has ended after that.
        Settle = "settle",
        /// A user wants failed or skipped stages retried, or a stage done once more.
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

arrows! {
    WorkflowState by WorkflowMove, first Running;
    Running, Succeed => Succeeded;
    Running, Fail => Failed;
    Running, Cancel => Cancelling;
    Cancelling, Settle => Cancelled;
    Succeeded | Failed | Cancelled, Retry => Running;
}

impl WorkflowState {
    /// Whether nothing will happen any more unless a person acts.
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Cancelled)
    }
}
