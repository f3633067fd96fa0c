//! The state machine of a run. Every legal arrow is written out; everything else is an error.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::transition::{IllegalTransition, UnknownName, named};

named! {
    /// Where a run stands.
    pub enum RunState: "run state" {
        /// Its workspace is being made.
        Preparing = "preparing",
        /// Its agent is at work.
        Running = "running",
        /// The agent ended; what it left is being looked at.
        Finishing = "finishing",
        /// It did what it should.
        Succeeded = "succeeded",
        /// It did not; the reason says why.
        Failed = "failed",
        /// It took too long.
        TimedOut = "timed_out",
        /// It was stopped on purpose.
        Cancelled = "cancelled",
        /// Its keeper stopped renewing the lease.
        Lost = "lost",
    }
}

named! {
    /// What can happen to a run.
    pub enum RunMove: "run move" {
        /// The agent was started.
        Start = "start",
        /// The agent ended.
        Exit = "exit",
        /// The outcome is good.
        Succeed = "succeed",
        /// The outcome is bad.
        Fail = "fail",
        /// A time limit passed.
        TimeOut = "time_out",
        /// Somebody stopped it.
        Cancel = "cancel",
        /// The lease expired.
        Lose = "lose",
    }
}

impl RunState {
    /// The state after `event`, or why there is none.
    pub fn next(self, event: RunMove) -> Result<Self, IllegalTransition<Self, RunMove>> {
        use RunMove as M;
        use RunState as S;
        let to = match (self, event) {
            (S::Preparing, M::Start) => S::Running,
            (S::Running, M::Exit) => S::Finishing,
            (S::Finishing, M::Succeed) => S::Succeeded,
            (S::Preparing | S::Running | S::Finishing, M::Fail) => S::Failed,
            (S::Preparing | S::Running | S::Finishing, M::TimeOut) => S::TimedOut,
            (S::Preparing | S::Running | S::Finishing, M::Cancel) => S::Cancelled,
            (S::Preparing | S::Running | S::Finishing, M::Lose) => S::Lost,
            (from, event) => return Err(IllegalTransition { from, event }),
        };
        Ok(to)
    }

    /// Whether somebody holds a lease on it.
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Preparing | Self::Running | Self::Finishing)
    }
}

named! {
    /// Why a run failed: the one closed list.
    pub enum Reason: "failure reason" {
        /// The agent ended with an error of its own.
        AgentError = "agent_error",
        /// The agent said that it cannot go on.
        BlockedByAgent = "blocked_by_agent",
        /// Changes were claimed or expected, and git shows none.
        NoChanges = "no_changes",
        /// The provider asked to slow down.
        RateLimited = "rate_limited",
        /// The account's quota is used up until it resets.
        QuotaExhausted = "quota_exhausted",
        /// The credentials were refused.
        Auth = "auth",
        /// The provider does not know the model.
        BadModel = "bad_model",
        /// The conversation no longer fits the model.
        ContextOverflow = "context_overflow",
        /// The provider is down.
        ProviderOutage = "provider_outage",
        /// Nothing happened for too long.
        Stale = "stale",
        /// It ran longer than its limit.
        TimedOut = "timed_out",
        /// A token or money limit was reached.
        OverBudget = "over_budget",
        /// A set-up command failed.
        SetupFailed = "setup_failed",
        /// The workspace could not be made.
        WorkspaceFailed = "workspace_failed",
        /// The keeper vanished.
        Lost = "lost",
        /// The repository brings commands of its own that nobody has allowed yet.
        Untrusted = "untrusted",
        /// The agent's program is not installed.
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
