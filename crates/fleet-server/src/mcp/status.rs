//! The statuses of workers, workflows and stages: which state is which, and how they are said.

use fleet_api::views::StageView;
use fleet_core::run::Reason;
use fleet_core::task::{TaskKind, TaskState};
use fleet_core::text::{escaped, shortened};
use fleet_core::workflow::{PartState, WorkflowState};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum WorkerStatus {
    Pending,
    Running,
    Succeeded,
    Failed,
    Cancelled,
    TimedOut,
    CleanupFailed,
}

impl WorkerStatus {
    pub(super) fn of(state: TaskState, reason: Option<Reason>) -> Self {
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
    pub(super) fn kinds(self) -> Vec<TaskKind> {
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
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum WorkflowStatus {
    Pending,
    Running,
    Succeeded,
    Failed,
    Cancelled,
}

impl WorkflowStatus {
    pub(super) const fn of(state: WorkflowState) -> Self {
        match state {
            WorkflowState::Running | WorkflowState::Cancelling => Self::Running,
            WorkflowState::Succeeded => Self::Succeeded,
            WorkflowState::Failed => Self::Failed,
            WorkflowState::Cancelled => Self::Cancelled,
        }
    }

    /// The states that have this status. A workflow runs from its beginning, so that none has the first one.
    pub(super) fn states(self) -> impl Iterator<Item = WorkflowState> {
        WorkflowState::ALL.iter().copied().filter(move |state| Self::of(*state) == self)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum StageStatus {
    Pending,
    Running,
    Succeeded,
    Failed,
    Cancelled,
    TimedOut,
    Skipped,
}

impl StageStatus {
    pub(super) fn of(stage: &StageView) -> Self {
        match stage.state {
            PartState::Pending => Self::Pending,
            // A stage whose task waits for a slot has not begun.
            PartState::Running if stage.status != "running" => Self::Pending,
            PartState::Running => Self::Running,
            PartState::Done => Self::Succeeded,
            PartState::Failed if stage.timed_out => Self::TimedOut,
            PartState::Failed => Self::Failed,
            PartState::Cancelled => Self::Cancelled,
            PartState::Skipped => Self::Skipped,
        }
    }
}

/// In lists that are summed up, what needs attention comes first.
const ORDER: [&str; 7] = ["running", "ok", "failed", "pending", "cancelled", "timed out", "cleanup failed"];

/// A status as clients know it: `timed_out`.
pub(super) fn name(status: impl Serialize) -> String {
    match serde_json::to_value(status) {
        Ok(Value::String(name)) => name,
        _ => String::new(),
    }
}

/// A status as people say it: `timed out`.
fn word(status: impl Serialize) -> String {
    match name(status).as_str() {
        "succeeded" => "ok".to_owned(),
        name => name.replace('_', " "),
    }
}

/// `[TIMED OUT]`.
pub(super) fn label(status: impl Serialize) -> String {
    format!("[{}]", word(status).to_uppercase())
}

/// The statuses of these names, and notes about names that no status has: nothing has them.
pub(super) fn named<S: DeserializeOwned>(names: &[String]) -> (Vec<S>, Vec<String>) {
    let mut notes = Vec::new();
    let mut status = |name: &String| {
        let found = serde_json::from_value(Value::from(name.as_str())).ok();
        if found.is_none() {
            let shown = escaped(&shortened(name, 60)).into_owned();
            notes.push(format!("there is no status {shown:?}, so that nothing has it"));
        }
        found
    };
    let found = names.iter().filter_map(&mut status).collect();
    (found, notes)
}

/// How many a list may have; a negative number is no limit.
pub(super) fn limit(number: i64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// `3 workers: 2 running, 1 ok`; of one, too, because clients know it so.
pub(super) fn summary(noun: &str, statuses: impl IntoIterator<Item: Serialize>) -> String {
    let words: Vec<String> = statuses.into_iter().map(word).collect();
    let counts = ORDER.iter().filter_map(|status| {
        let count = words.iter().filter(|word| word == status).count();
        (count > 0).then(|| format!("{count} {status}"))
    });
    let counts = counts.collect::<Vec<_>>().join(", ");
    let colon = if counts.is_empty() { "" } else { ": " };
    format!("{} {noun}{colon}{counts}", words.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_labelled_and_counted() {
        use WorkerStatus::{Pending, Running, Succeeded, TimedOut};
        assert_eq!([label(Succeeded), label(TimedOut)], ["[OK]", "[TIMED OUT]"]);
        let all = [Pending, Succeeded, Running, TimedOut, Running];
        assert_eq!(summary("workers", all), "5 workers: 2 running, 1 ok, 1 pending, 1 timed out");
        assert_eq!(summary("workers", [Running; 1]), "1 workers: 1 running");
        assert_eq!(summary("workers", [Running; 0]), "0 workers");
    }

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

    #[test]
    fn every_state_has_one_status_that_finds_it() {
        let statuses = [
            WorkflowStatus::Pending,
            WorkflowStatus::Running,
            WorkflowStatus::Succeeded,
            WorkflowStatus::Failed,
            WorkflowStatus::Cancelled,
        ];
        let found: Vec<WorkflowState> = statuses.iter().flat_map(|status| status.states()).collect();
        assert_eq!(found.len(), WorkflowState::ALL.len());
        assert!(WorkflowState::ALL.iter().all(|state| found.contains(state)));
        assert_eq!(WorkflowStatus::Pending.states().count(), 0);
    }
}
