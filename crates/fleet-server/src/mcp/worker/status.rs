//! Which state of a task is which status of a worker.

use fleet_api::verbs::task_recent::TaskKind;
use fleet_core::run::Reason;
use fleet_core::task::TaskState;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(in crate::mcp) enum WorkerStatus {
    Pending,
    Running,
    Succeeded,
    Failed,
    Cancelled,
    TimedOut,
    CleanupFailed,
}

impl WorkerStatus {
    pub(in crate::mcp) fn of(state: TaskState, reason: Option<Reason>) -> Self {
        match state {
            TaskState::Queued | TaskState::Held | TaskState::Waiting => Self::Pending,
            TaskState::Running => Self::Running,
            TaskState::Done => Self::Succeeded,
            TaskState::Failed if reason == Some(Reason::TimedOut) => Self::TimedOut,
            TaskState::Failed => Self::Failed,
            TaskState::Cancelled => Self::Cancelled,
        }
    }

    /// The tasks of this status. A clean-up that fails changes no task, so that there are none of the last one.
    pub(in crate::mcp) fn kinds(self) -> Vec<TaskKind> {
        let kind = |state, timed_out| TaskKind { state, timed_out };
        match self {
            Self::Pending => [TaskState::Queued, TaskState::Held, TaskState::Waiting]
                .map(|state| kind(state, None))
                .to_vec(),
            Self::Running => vec![kind(TaskState::Running, None)],
            Self::Succeeded => vec![kind(TaskState::Done, None)],
            Self::Failed => vec![kind(TaskState::Failed, Some(false))],
            Self::TimedOut => vec![kind(TaskState::Failed, Some(true))],
            Self::Cancelled => vec![kind(TaskState::Cancelled, None)],
            Self::CleanupFailed => Vec::new(),
        }
    }

    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::Pending => "[PENDING]",
            Self::Running => "[RUNNING]",
            Self::Succeeded => "[OK]",
            Self::Failed => "[FAILED]",
            Self::Cancelled => "[CANCELLED]",
            Self::TimedOut => "[TIMED OUT]",
            Self::CleanupFailed => "[CLEANUP FAILED]",
        }
    }

    /// As a list is summed up, in its order.
    pub(in crate::mcp) const COUNTED: [(Self, &'static str); 7] = [
        (Self::Running, "running"),
        (Self::Succeeded, "ok"),
        (Self::Failed, "failed"),
        (Self::Pending, "pending"),
        (Self::Cancelled, "cancelled"),
        (Self::TimedOut, "timed out"),
        (Self::CleanupFailed, "cleanup failed"),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_has_a_status_and_every_status_finds_its_states() {
        for state in [
            TaskState::Queued,
            TaskState::Held,
            TaskState::Waiting,
            TaskState::Running,
            TaskState::Done,
            TaskState::Failed,
            TaskState::Cancelled,
        ] {
            for reason in [None, Some(Reason::TimedOut), Some(Reason::Auth)] {
                let status = WorkerStatus::of(state, reason);
                let timed_out = reason == Some(Reason::TimedOut);
                let fits = |kind: &TaskKind| {
                    kind.state == state && kind.timed_out.is_none_or(|wanted| wanted == timed_out)
                };
                assert!(status.kinds().iter().any(fits), "{state} {reason:?}");
            }
        }
        assert_eq!(WorkerStatus::of(TaskState::Failed, Some(Reason::TimedOut)), WorkerStatus::TimedOut);
    }
}
