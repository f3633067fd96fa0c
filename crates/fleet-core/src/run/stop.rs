//! A requested stop: the keeper learns of it when it renews its lease.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::task::TaskMove;
use crate::transition::{UnknownName, named};

named! {
    /// What happens to the task, weakest first: a later kind overrides an earlier one.
    pub enum StopKind: "kind of stop" {
        /// It returns to the queue: a shutdown, a hand-over.
        Release = "release",
        /// It returns to the queue, because a person has it continue in a terminal, or without one, and waits for that.
        Switch = "switch",
        /// A user cancelled it.
        Cancel = "cancel",
    }
}

/// A request to stop a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StopRequest {
    /// What happens to the task.
    pub kind: StopKind,
    /// Why, for people.
    pub why: String,
}

impl StopRequest {
    /// Whether this stop replaces an earlier request. The first of its kind stays: the keeper may be acting on it
    /// already.
    pub fn supersedes(&self, earlier: Option<&Self>) -> bool {
        earlier.is_none_or(|earlier| self.kind > earlier.kind)
    }

    /// Whether the task is cancelled whatever the ending of its run. A cancelled task is neither retried nor asked
    /// about; a task that is done, or cannot be done, stays so.
    pub const fn overrides(&self, event: TaskMove) -> bool {
        matches!((self.kind, event), (StopKind::Cancel, TaskMove::Requeue | TaskMove::Ask))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancellation_beats_a_switch_which_beats_a_release_and_nothing_else_changes_a_stop() {
        let stop = |kind, why: &str| StopRequest { kind, why: why.to_owned() };
        let switch = stop(StopKind::Switch, "in a terminal");
        let (release, cancel) = (stop(StopKind::Release, "shutdown"), stop(StopKind::Cancel, "not needed"));
        assert!(release.supersedes(None) && cancel.supersedes(None) && cancel.supersedes(Some(&release)));
        assert!(!release.supersedes(Some(&cancel)) && !cancel.supersedes(Some(&cancel)));
        assert!(!stop(StopKind::Release, "again").supersedes(Some(&release)));
        assert!(switch.supersedes(Some(&release)) && cancel.supersedes(Some(&switch)));
        assert!(!release.supersedes(Some(&switch)) && !switch.supersedes(Some(&switch)));
        let json = serde_json::to_string(&cancel).unwrap();
        assert_eq!(json, r#"{"kind":"cancel","why":"not needed"}"#);
        assert_eq!(serde_json::from_str::<StopRequest>(&json).unwrap(), cancel);
    }

    #[test]
    fn what_nobody_wants_is_not_tried_again() {
        let overridden = |kind| {
            let stop = StopRequest { kind, why: String::new() };
            TaskMove::ALL.iter().copied().filter(|event| stop.overrides(*event)).collect::<Vec<_>>()
        };
        assert_eq!((overridden(StopKind::Release), overridden(StopKind::Switch)), (vec![], vec![]));
        assert_eq!(overridden(StopKind::Cancel), [TaskMove::Requeue, TaskMove::Ask]);
    }
}
