//! What to think of work that is over, before a person looks at it.
//!
//! Owns the verdict over a finished task: claims against evidence, and what is left to be done. Must never call work
//! good because an agent says so.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::outcome::RunResult;
use crate::report::TestOutcome;
use crate::task::TaskState;
use crate::transition::{UnknownName, named};

named! {
    /// What to think of work that is over.
    pub enum ReviewVerdict: "verdict" {
        /// Its work has landed.
        Landed = "landed",
        /// It can be looked at and merged.
        Mergeable = "mergeable",
        /// It no longer merges cleanly.
        Conflicting = "conflicting",
        /// What the agent says and what was seen differ, or one of its tests failed: look closely.
        Doubtful = "doubtful",
        /// It is done and changed nothing.
        Unchanged = "unchanged",
        /// It is done, and its branch is not here.
        Gone = "gone",
        /// It is done, and its branch is on another machine.
        Elsewhere = "elsewhere",
        Failed = "failed",
    }
}

/// What git says about a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BranchStatus {
    Gone,
    /// It is on another machine.
    Elsewhere,
    /// Its commits or their content have landed.
    Landed,
    /// It can be merged, or no merge was tried.
    Open,
    Conflicting,
    /// It shares no commit with where it should land, so `git merge` refuses it.
    Unrelated,
}

/// Judges an ended task by its last run.
pub fn judge(task: TaskState, result: Option<&RunResult>, branch: BranchStatus) -> ReviewVerdict {
    if task != TaskState::Done {
        return ReviewVerdict::Failed;
    }
    let changed_nothing = result.is_some_and(|result| result.files == 0 && result.commit_count == 0);
    match branch {
        _ if changed_nothing => ReviewVerdict::Unchanged,
        BranchStatus::Landed => ReviewVerdict::Landed,
        BranchStatus::Gone => ReviewVerdict::Gone,
        BranchStatus::Elsewhere => ReviewVerdict::Elsewhere,
        BranchStatus::Conflicting | BranchStatus::Unrelated => ReviewVerdict::Conflicting,
        BranchStatus::Open if result.is_some_and(is_doubtful) => ReviewVerdict::Doubtful,
        BranchStatus::Open => ReviewVerdict::Mergeable,
    }
}

fn is_doubtful(result: &RunResult) -> bool {
    !result.remarks.is_empty() || result.tests.iter().any(|test| test.outcome == TestOutcome::Failed)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn result(more: &serde_json::Value) -> RunResult {
        let mut all = json!({
            "status": "completed", "summary": "", "files_changed": ["a"], "files": 1, "commits": ["c"],
            "commit_count": 1, "exit": {"code": 0},
        });
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value(all).unwrap()
    }

    #[test]
    fn evidence_decides() {
        let good = result(&json!({}));
        let judged = |branch| judge(TaskState::Done, Some(&good), branch);
        assert_eq!(judged(BranchStatus::Open), ReviewVerdict::Mergeable);
        assert_eq!(judged(BranchStatus::Landed), ReviewVerdict::Landed);
        assert_eq!(judged(BranchStatus::Conflicting), ReviewVerdict::Conflicting);
        assert_eq!(judged(BranchStatus::Unrelated), ReviewVerdict::Conflicting);
        assert_eq!(judged(BranchStatus::Gone), ReviewVerdict::Gone);
        assert_eq!(judged(BranchStatus::Elsewhere), ReviewVerdict::Elsewhere);
        assert_eq!(judge(TaskState::Failed, Some(&good), BranchStatus::Landed), ReviewVerdict::Failed);
        let nothing = result(&json!({"files": 0, "commit_count": 0}));
        assert_eq!(judge(TaskState::Done, Some(&nothing), BranchStatus::Gone), ReviewVerdict::Unchanged);
    }

    #[test]
    fn what_does_not_fit_together_is_doubtful() {
        for odd in [
            json!({"remarks": ["reported as changed, but git shows no change: b"]}),
            json!({"tests": [{"name": "unit", "outcome": "passed"}, {"name": "e2e", "outcome": "failed"}]}),
        ] {
            assert_eq!(
                judge(TaskState::Done, Some(&result(&odd)), BranchStatus::Open),
                ReviewVerdict::Doubtful
            );
        }
        let skipped = json!({"tests": [{"name": "e2e", "outcome": "skipped"}]});
        assert_eq!(
            judge(TaskState::Done, Some(&result(&skipped)), BranchStatus::Open),
            ReviewVerdict::Mergeable
        );
    }
}
