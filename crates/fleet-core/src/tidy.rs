//! What may be tidied up, and what has to stay.
//!
//! Owns the decisions before anything of a run is removed. Must never say that unlanded work may go unless a person asked
//! for exactly that.

use std::fmt;
use std::time::Duration;

use crate::task::TaskState;
use crate::time::Millis;

/// The work of one or several runs on one branch, all that matters here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchWork {
    /// Whether one of the runs is at work, or not tidied up yet.
    pub is_live: bool,
    /// Where the tasks stand; nothing for those that were deleted.
    pub tasks: Vec<TaskState>,
    pub branch: Option<BranchFacts>,
}

/// What git says about a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchFacts {
    /// Where it is checked out.
    pub checked_out: Option<String>,
    pub is_unchanged: bool,
    /// Where all of its commits, or their content, have arrived.
    pub landed: Option<Landed>,
    /// Whether it is as the last run left it. Otherwise a person continued it.
    pub is_as_left: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Landed {
    /// The commits are part of this.
    Merged(String),
    /// This has the same content, by other commits.
    SameContent(String),
}

/// How far a clean-up goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CleanReach {
    Landed,
    /// Also work that agents left and no one continued.
    All,
}

/// May it go, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TidyDecision {
    Remove(TidyReason),
    Keep(TidyReason),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TidyReason {
    AtWork,
    NotOver(TaskState),
    BranchGone,
    CheckedOut(String),
    Unchanged,
    Landed(Landed),
    NotLanded,
    WorkedOnSince,
}

impl fmt::Display for TidyReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtWork => f.write_str("its agent is running"),
            Self::NotOver(state) => write!(f, "its task is {state}"),
            Self::BranchGone => f.write_str("it has no branch"),
            Self::CheckedOut(place) => write!(f, "checked out at {place}"),
            Self::Unchanged => f.write_str("nothing was changed"),
            Self::Landed(Landed::Merged(into)) => write!(f, "merged into {into}"),
            Self::Landed(Landed::SameContent(place)) => write!(f, "{place} has the same content"),
            Self::NotLanded => f.write_str("not landed"),
            Self::WorkedOnSince => f.write_str("not landed, and has later commits"),
        }
    }
}

/// Whether the branch and the folders of this work may go.
pub fn judge(work: &BranchWork, reach: CleanReach) -> TidyDecision {
    if work.is_live {
        return TidyDecision::Keep(TidyReason::AtWork);
    }
    if let Some(state) = work.tasks.iter().find(|state| !state.is_settled()) {
        return TidyDecision::Keep(TidyReason::NotOver(*state));
    }
    let Some(branch) = &work.branch else { return TidyDecision::Remove(TidyReason::BranchGone) };
    if let Some(place) = &branch.checked_out {
        return TidyDecision::Keep(TidyReason::CheckedOut(place.clone()));
    }
    match (&branch.landed, reach) {
        _ if branch.is_unchanged => TidyDecision::Remove(TidyReason::Unchanged),
        (Some(landed), _) => TidyDecision::Remove(TidyReason::Landed(landed.clone())),
        (None, _) if !branch.is_as_left => TidyDecision::Keep(TidyReason::WorkedOnSince),
        (None, CleanReach::All) => TidyDecision::Remove(TidyReason::NotLanded),
        (None, CleanReach::Landed) => TidyDecision::Keep(TidyReason::NotLanded),
    }
}

/// Whether something that ended is old enough to go.
pub fn is_old(ended: Option<Millis>, limit: Duration, now: Millis) -> bool {
    ended.is_some_and(|ended| now.since(ended) >= limit)
}

/// The snapshots of a run that ended, oldest first, as far as their fate is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotFacts {
    pub is_landed: bool,
    /// Whether it holds something that no branch could: then it stays.
    pub has_more: bool,
}

/// Which snapshots of an old run may go: all, if the last of them has landed; otherwise all but the last.
pub fn droppable(snapshots: &[SnapshotFacts]) -> Vec<bool> {
    let is_landed = snapshots.last().is_some_and(|last| last.is_landed);
    let last = snapshots.len().saturating_sub(1);
    let may_go = |(at, one): (usize, &SnapshotFacts)| !one.has_more && (is_landed || at < last);
    snapshots.iter().enumerate().map(may_go).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn branch() -> BranchFacts {
        BranchFacts { checked_out: None, is_unchanged: false, landed: None, is_as_left: true }
    }

    fn work(branch: BranchFacts) -> BranchWork {
        BranchWork { is_live: false, tasks: vec![TaskState::Done], branch: Some(branch) }
    }

    #[test]
    fn only_what_is_over_and_has_landed_goes() {
        let landed = BranchFacts { landed: Some(Landed::Merged("main".to_owned())), ..branch() };
        assert!(matches!(
            judge(&work(landed.clone()), CleanReach::Landed),
            TidyDecision::Remove(TidyReason::Landed(_))
        ));
        assert_eq!(judge(&work(branch()), CleanReach::Landed), TidyDecision::Keep(TidyReason::NotLanded));
        assert_eq!(judge(&work(branch()), CleanReach::All), TidyDecision::Remove(TidyReason::NotLanded));
        for reach in [CleanReach::Landed, CleanReach::All] {
            let live = BranchWork { is_live: true, ..work(landed.clone()) };
            assert_eq!(judge(&live, reach), TidyDecision::Keep(TidyReason::AtWork));
            for state in [TaskState::Queued, TaskState::Held, TaskState::Waiting, TaskState::Running] {
                let open = BranchWork { tasks: vec![TaskState::Done, state], ..work(landed.clone()) };
                assert_eq!(judge(&open, reach), TidyDecision::Keep(TidyReason::NotOver(state)));
            }
            let here = BranchFacts { checked_out: Some("/here".to_owned()), ..landed.clone() };
            assert_eq!(
                judge(&work(here), reach),
                TidyDecision::Keep(TidyReason::CheckedOut("/here".to_owned()))
            );
            let going_on = BranchFacts { is_as_left: false, ..branch() };
            assert_eq!(judge(&work(going_on), reach), TidyDecision::Keep(TidyReason::WorkedOnSince));
            let gone = BranchWork { branch: None, ..work(branch()) };
            assert_eq!(judge(&gone, reach), TidyDecision::Remove(TidyReason::BranchGone));
        }
    }

    #[test]
    fn the_last_snapshot_of_unlanded_work_stays() {
        let facts = |is_landed, has_more| SnapshotFacts { is_landed, has_more };
        assert_eq!(droppable(&[facts(false, false), facts(true, false)]), [true, true]);
        assert_eq!(droppable(&[facts(true, false), facts(false, false)]), [true, false]);
        assert_eq!(droppable(&[facts(false, true), facts(true, true)]), [false, false]);
        assert_eq!(droppable(&[facts(false, false)]), [false]);
        assert_eq!(droppable(&[]), [false; 0]);
    }

    #[test]
    fn what_has_not_ended_is_never_old() {
        let (day, now) = (Duration::from_hours(24), Millis(1_000_000_000));
        assert!(!is_old(None, Duration::ZERO, now));
        assert!(!is_old(Some(now), day, now));
        assert!(is_old(Some(Millis(0)), day, now));
    }
}
