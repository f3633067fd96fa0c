//! The state machine of a run. Every legal arrow is written out; everything else is an error.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::transition::{UnknownName, arrows, named};

named! {
    pub enum RunState: "run state" {
        /// Its workspace is being made.
        Preparing = "preparing",
        Running = "running",
        /// The agent ended; its work is being collected.
        Finishing = "finishing",
        Succeeded = "succeeded",
        Failed = "failed",
        TimedOut = "timed_out",
        Cancelled = "cancelled",
        /// Its keeper stopped renewing the lease.
        Lost = "lost",
    }
}

named! {
    pub enum RunMove: "run move" {
        Start = "start",
        Exit = "exit",
        Succeed = "succeed",
        Fail = "fail",
        TimeOut = "time_out",
        Cancel = "cancel",
        /// The lease expired.
        Lose = "lose",
    }
}

arrows! {
    RunState by RunMove, first Preparing;
    Preparing, Start => Running;
    Running, Exit => Finishing;
    Finishing, Succeed => Succeeded;
    Preparing | Running | Finishing, Fail => Failed;
    Preparing | Running | Finishing, TimeOut => TimedOut;
    Preparing | Running | Finishing, Cancel => Cancelled;
    Preparing | Running | Finishing, Lose => Lost;
}

impl RunState {
    /// Whether a keeper holds a lease on it.
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Preparing | Self::Running | Self::Finishing)
    }
}

named! {
    /// Why a run failed: the one closed list.
    pub enum Reason: "failure reason" {
        /// The agent ended with an error.
        AgentError = "agent_error",
        BlockedByAgent = "blocked_by_agent",
        /// Changes were claimed or expected, and git shows none.
        NoChanges = "no_changes",
        RateLimited = "rate_limited",
        /// The account's quota is used up until it resets.
        QuotaExhausted = "quota_exhausted",
        /// The credentials were refused.
        Auth = "auth",
        /// The provider does not know the model.
        BadModel = "bad_model",
        /// The conversation no longer fits the model.
        ContextOverflow = "context_overflow",
        /// The conversation was about to become too long for the model, and continues in a new one.
        ContextPressure = "context_pressure",
        ProviderOutage = "provider_outage",
        /// Nothing happened for too long.
        Stale = "stale",
        TimedOut = "timed_out",
        /// A token or money limit was reached.
        OverBudget = "over_budget",
        SetupFailed = "setup_failed",
        WorkspaceFailed = "workspace_failed",
        /// No workspace can be made until a person changes something: no such base, or a submodule that cannot be had.
        WorkspaceRefused = "workspace_refused",
        /// The keeper vanished.
        Lost = "lost",
        /// The repository has commands that the user has not allowed yet.
        Untrusted = "untrusted",
        AgentMissing = "agent_missing",
        /// The branch is checked out elsewhere, or holds work that is not the task's.
        BranchTaken = "branch_taken",
        /// What the branch was to start from does not go together.
        MergeConflict = "merge_conflict",
        /// A command that has to succeed over the work did not.
        ChecksFailed = "checks_failed",
        /// The agent worked in a directory that is not its workspace, or wrote there.
        OutsideWorkspace = "outside_workspace",
    }
}

impl Reason {
    /// Whether waiting for the agent is a waste: what its provider refused now it refuses at every further try, while
    /// some agents go on trying for minutes.
    pub const fn is_hopeless(self) -> bool {
        matches!(self, Self::Auth | Self::BadModel | Self::QuotaExhausted)
    }
}
