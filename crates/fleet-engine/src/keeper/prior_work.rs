//! Where the branch of a run starts when others worked before it: at what they left, merged in order.
//!
//! Owns that merge, for the stages of a workflow and for tasks that waited for others. Must never write to the branches
//! that it reads.

use std::sync::Arc;

use fleet_core::problem::Outcome;
use fleet_core::run::{Ending, Reason};
use fleet_core::text::escaped;
use fleet_host::git::{self, Area, GitError, Merge, Oid, Paths};
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

    /// Whether another branch keeps the commit: it is not a merge that was made for this run.
    pub(crate) fn is_known(&self, area: &Area, commit: &Oid) -> bool {
        match self {
            Self::Stages(stage) => stage.is_known(area, commit),
            Self::Tasks(tasks) => tasks.is_known(area, commit),
        }
    }
}

/// What an earlier stage or task left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) name: String,
    pub(super) branch: Option<String>,
    pub(super) commit: Oid,
}

/// Something that the agent of a stage still has to merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unmerged {
    /// The branch that is not merged. `None` if all are merged, but these files still have conflict markers.
    pub(super) head: Option<Head>,
    /// Where it conflicts.
    pub(super) files: Paths,
}

/// What there is to start from.
#[derive(Debug)]
pub(super) struct Joined {
    pub(super) commit: Oid,
    pub(super) of: Vec<Oid>,
    pub(super) unmerged: Vec<Unmerged>,
}

/// Merges them in order, as far as they go together. Nothing, if there are none.
pub(super) fn merge(area: &Area, heads: &[Head], message: &str) -> Result<Option<Joined>, GitError> {
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
    Ending::Failed(Reason::WorkspaceFailed, chain(error))
}

/// The end of a run whose start could not be merged. All before the first that conflicts go together.
pub(super) fn conflict(heads: &[Head], first: &Unmerged) -> Ending {
    let merged = heads.iter().take_while(|head| first.head.as_ref() != Some(head)).map(Head::described);
    let merged: Vec<String> = merged.collect();
    let who = first.head.as_ref().map(Head::described).unwrap_or_default();
    let why = format!("{who} conflicts with {}{}", merged.join(", "), first.places());
    Ending::Failed(Reason::MergeConflict, why)
}

impl Head {
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
