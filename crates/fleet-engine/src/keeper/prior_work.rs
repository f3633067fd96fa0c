//! Where the branch of a run starts when others worked before it: at what they left, merged in order.
//!
//! Owns that merge, for the stages of a workflow and for tasks that waited for others. Must never write to the branches
//! that it reads.

use std::sync::Arc;

use fleet_core::id::TaskId;
use fleet_core::problem::Outcome;
use fleet_core::run::{Ending, Reason, Run};
use fleet_core::text::escaped;
use fleet_host::git::{self, Area, GitError, ListedPaths, Merge, Oid};
use fleet_store::ops::RunDetail;

use super::prior_tasks::PriorTasks;
use super::stage::StageRun;
use crate::Engine;
use crate::problems::chain;

/// At most this many files of a conflict are named.
const NAMED: usize = 20;

/// Whose work a run starts from.
#[derive(Clone)]
pub(crate) enum PriorWork {
    Stages(Arc<StageRun>),
    Tasks(Arc<PriorTasks>),
}

impl PriorWork {
    /// That of a run, which may be the run of a stage. `None` if it starts from a commit of the user.
    pub(crate) async fn of(
        engine: &Engine,
        detail: &RunDetail,
        stage: Option<&Arc<StageRun>>,
    ) -> Outcome<Option<Self>> {
        if let Some(stage) = stage {
            return Ok(Some(Self::Stages(Arc::clone(stage))));
        }
        let tasks = PriorTasks::of(engine, detail).await?;
        Ok(tasks.map(|tasks| Self::Tasks(Arc::new(tasks))))
    }

    /// What the branch starts from; `None` if that is the current commit. Fails with how the run ends.
    pub(super) fn join(&self, area: &Area) -> Result<Option<Joined>, Ending> {
        match self {
            Self::Stages(stage) => stage.join(area).map(Some),
            Self::Tasks(tasks) => tasks.join(area),
        }
    }

    /// What the agent has to merge and is not in `tip` yet.
    pub(super) fn unmerged(&self, area: &Area, tip: &Oid) -> Result<Vec<Unmerged>, GitError> {
        match self {
            Self::Stages(stage) => stage.unmerged(area, tip),
            Self::Tasks(_) => Ok(Vec::new()),
        }
    }

    /// What the branch has of others, in a sentence for the agent: nothing if that is in the current commit.
    pub(super) fn passed_on(&self, area: &Area, base: &Oid) -> Option<String> {
        match self {
            // Their own texts say it.
            Self::Stages(_) => None,
            Self::Tasks(tasks) => tasks.passed_on(area, base),
        }
    }

    /// Whether another branch keeps the commit: it is not a merge that was made for this run.
    pub(crate) fn is_known(&self, area: &Area, commit: &Oid) -> bool {
        match self {
            Self::Stages(stage) => stage.is_known(area, commit),
            Self::Tasks(tasks) => tasks.is_known(area, commit),
        }
    }
}

/// A run that starts from the work of others.
pub(crate) struct StartingRun {
    pub(super) task: TaskId,
    place: String,
}

impl StartingRun {
    pub(super) fn new(run: &Run) -> Self {
        Self { task: run.task, place: run.place.clone() }
    }

    /// Whether another run was at the same place, where a branch of the same name is the same branch.
    pub(super) fn is_beside(&self, other: &Run) -> bool {
        other.place == self.place
    }

    /// How it ends if commits of another run are not here: until somebody brings them, or names another start.
    pub(super) fn missing(&self, what: &str, whose: &Run) -> Ending {
        let (own, branch) = (self.task, escaped(whose.branch.as_deref().unwrap_or_default()));
        let next = if self.is_beside(whose) {
            format!("its branch `{branch}` was deleted, and its commits are gone")
        } else {
            let runner = escaped(&whose.runner);
            format!(
                "it ran on {runner}: fetch its branch `{branch}` from there, then `fleet task retry {own}`"
            )
        };
        let other = format!("`fleet task edit {own} --base REF` starts from another commit");
        Ending::Failed(Reason::WorkspaceRefused, format!("{what} is not in this repository: {next}; {other}"))
    }
}

/// What an earlier stage or task left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PriorHead {
    pub(super) name: String,
    pub(super) branch: Option<String>,
    pub(super) commit: Oid,
}

/// Something that the agent of a stage still has to merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unmerged {
    /// The branch that is not merged. `None` if all are merged, but these files still have conflict markers.
    pub(super) head: Option<PriorHead>,
    /// Where it conflicts.
    pub(super) files: ListedPaths,
}

/// What there is to start from.
#[derive(Debug)]
pub(super) struct Joined {
    pub(super) commit: Oid,
    pub(super) of: Vec<Oid>,
    pub(super) unmerged: Vec<Unmerged>,
}

/// Merges them in order, as far as they go together. Nothing, if there are none.
pub(super) fn merge(area: &Area, heads: &[PriorHead], message: &str) -> Result<Option<Joined>, GitError> {
    let Some((first, others)) = heads.split_first() else { return Ok(None) };
    let of = heads.iter().map(|head| head.commit.clone()).collect();
    let mut joined = Joined { commit: first.commit.clone(), of, unmerged: Vec::new() };
    for next in others {
        let both = [joined.commit.clone(), next.commit.clone()];
        match git::merge_commits(&area.vault, &both, message)? {
            Merge::Merged { commit } => joined.commit = commit,
            Merge::Conflict { files, .. } => {
                joined.unmerged.push(Unmerged { head: Some(next.clone()), files });
            }
        }
    }
    Ok(Some(joined))
}

pub(super) fn failed(error: &GitError) -> Ending {
    let reason = if error.needs_a_person() { Reason::WorkspaceRefused } else { Reason::WorkspaceFailed };
    Ending::Failed(reason, chain(error))
}

/// The end of a run whose start could not be merged. All before the first that conflicts go together.
pub(super) fn conflict(heads: &[PriorHead], first: &Unmerged) -> Ending {
    let merged = heads.iter().take_while(|head| first.head.as_ref() != Some(head)).map(PriorHead::described);
    let merged: Vec<String> = merged.collect();
    let who = first.head.as_ref().map(PriorHead::described).unwrap_or_default();
    let why = format!("{who} conflicts with {}{}", merged.join(", "), first.places());
    Ending::Failed(Reason::MergeConflict, why)
}

impl PriorHead {
    /// Its name, in words.
    pub(super) fn described(&self) -> String {
        match &self.branch {
            Some(branch) => format!("{} (branch `{}`)", self.name, escaped(branch)),
            None => format!("{} ({})", self.name, self.commit),
        }
    }
}

impl Unmerged {
    /// What is to be done, in a few words.
    pub(super) fn described(&self) -> String {
        match &self.head {
            Some(head) => format!("{}: `git merge {}`{}", head.described(), head.commit, self.places()),
            None => format!("resolve what is left between conflict markers{}", self.places()),
        }
    }

    /// The files of the conflict, as the rest of a sentence.
    fn places(&self) -> String {
        let names: Vec<_> = self.files.listed.iter().take(NAMED).map(|path| escaped(path)).collect();
        let more = self.files.total.saturating_sub(names.len() as u64);
        match (names.is_empty(), more) {
            (true, _) => String::new(),
            (false, 0) => format!(" in {}", names.join(", ")),
            (false, more) => format!(" in {} and {more} more", names.join(", ")),
        }
    }
}
