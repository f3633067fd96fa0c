//! Saving: everything that an agent left, in snapshots of the vault.

use std::collections::BTreeSet;
use std::io::ErrorKind;

use fleet_core::id::RunId;
use fleet_core::time::Millis;
use fleet_host::git::{
    self, Area, Checkout, Collected, GitError, KeepCommits, Oid, OtherWork, TakeSnapshot, Untouched,
    Workspace, WorkspaceError,
};

use crate::clock;
use crate::home::{Home, RunFolder, write_private};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Saved {
    #[default]
    All,
    /// All of it, but a new workspace is better than this one: it has too many files to clean, or no run could be
    /// prepared in it.
    Unfit,
    NothingToSave(Untouched),
    /// All but files that cannot be read or stored: the workspace itself has to be kept.
    Incomplete,
}

impl Saved {
    pub(super) fn except(skips: &git::Skips, unread: Option<&String>) -> Self {
        if skips.is_a_loss() || unread.is_some() { Self::Incomplete } else { Self::All }
    }

    /// What an attempt to save came to; `None` if it should be tried again. Where there was too much to be saved, another
    /// attempt would take as long, so the workspace is kept as it is.
    pub(crate) fn attempted(saved: Result<Self, GitError>) -> Option<Self> {
        match saved {
            Ok(saved) => Some(saved),
            Err(error) if error.is_too_much() => Some(Self::Incomplete),
            Err(_) => None,
        }
    }

    /// What holds when more was looked at.
    pub(crate) fn and(self, more: Self) -> Self {
        match (self, more) {
            (Self::Incomplete, _) | (_, Self::Incomplete) => Self::Incomplete,
            (Self::Unfit, _) => Self::Unfit,
            (_, more) => more,
        }
    }

    /// What becomes of the workspace: it goes back to the pool, or is set aside as it is.
    pub(crate) fn release(self, workspace: Workspace, home: &Home) -> Result<(), WorkspaceError> {
        match self {
            Self::All => workspace.release(),
            Self::Unfit => workspace.retire(),
            Self::NothingToSave(seen) => workspace.release_untouched(&seen),
            Self::Incomplete => workspace.set_aside(&home.kept()),
        }
    }
}

/// Saves the files and what is checked out; touches nothing that the agent can see. The agent's other branches and
/// stashes stay where they are, so the workspace may not be released after this.
pub(crate) fn save(workspace: &Workspace, run: RunId, why: &str, now: Millis) -> Result<Saved, GitError> {
    let collected = workspace.collect()?;
    take_snapshot(workspace, &collected, (&run.to_string(), why), now)
}

/// Saves everything, the agent's other branches and stashes included: the workspace may be released after this.
pub(crate) fn save_all(workspace: &Workspace, run: RunId, why: &str, now: Millis) -> Result<Saved, GitError> {
    let (collected, run) = (workspace.collect()?, run.to_string());
    // First, so that the snapshot of the files is the last: `fleet undo` takes that.
    let others = keep_others(workspace, &run, &collected);
    let saved = take_snapshot(workspace, &collected, (&run, why), now)?;
    others.map(|()| saved)
}

fn take_snapshot(
    workspace: &Workspace,
    collected: &Collected,
    about: (&str, &str),
    now: Millis,
) -> Result<Saved, GitError> {
    let checkout = workspace.checkout()?;
    let wanted = wanted(workspace, (&checkout, collected.staged.as_ref()), about, now);
    let snapshot = git::take_snapshot(&wanted)?;
    Ok(Saved::except(&snapshot.skips, collected.unread.as_ref()))
}

/// Saves everything before the agent is asked to stop: an agent that is ending may clean up. Noted for callers that
/// wait for that; without the note they wait for the end.
pub(crate) fn save_before_stop(
    workspace: &Workspace,
    run: RunId,
    folder: &RunFolder,
) -> Result<Saved, GitError> {
    let saved = save_all(workspace, run, "before it was stopped", clock::now())?;
    let _ = write_private(&folder.saved(), b"");
    Ok(saved)
}

/// Saves the files if they have anything that the last commit does not. What the agent committed was looked at before.
pub(crate) fn save_rest(
    workspace: &Workspace,
    run: RunId,
    why: &str,
    now: Millis,
) -> Result<Saved, GitError> {
    let (checkout, run) = (workspace.checkout()?, run.to_string());
    let snapshot = git::take_snapshot_of_rest(&wanted(workspace, (&checkout, None), (&run, why), now))?;
    Ok(snapshot.map_or(Saved::All, |snapshot| Saved::except(&snapshot.skips, None)))
}

pub(super) fn wanted<'a>(
    workspace: &'a Workspace,
    (checkout, staged): (&'a Checkout, Option<&'a Oid>),
    (run, why): (&'a str, &'a str),
    now: Millis,
) -> TakeSnapshot<'a> {
    let (exclude, at_seconds) = (workspace.private(), now.0 / 1_000);
    TakeSnapshot { checkout, run, why, at_seconds, exclude, max_file: None, staged }
}

/// Whether the folder was removed, or replaced by a link: then there is nothing in it to be kept.
pub(crate) fn is_gone(workspace: &Workspace) -> bool {
    match std::fs::symlink_metadata(workspace.path()) {
        Ok(found) => !found.is_dir(),
        Err(error) => error.kind() == ErrorKind::NotFound,
    }
}

/// Where the agent left the branch of the run, if what it has checked out does not contain that.
pub(super) fn left_branch<'a>(
    workspace: &Workspace,
    collected: &'a Collected,
) -> Result<Option<&'a Oid>, GitError> {
    let Some(at) = collected.branch.as_ref().filter(|at| **at != collected.head) else { return Ok(None) };
    let is_contained = git::is_ancestor(&workspace.area().vault, at, &collected.head)?;
    Ok((!is_contained).then_some(at))
}

/// Keeps what the agent committed beside what it has checked out, each as a snapshot. Its own branch, too: it may not be
/// possible to publish that.
pub(super) fn keep_others(workspace: &Workspace, run: &str, collected: &Collected) -> Result<(), GitError> {
    let left = left_branch(workspace, collected)?;
    let left =
        left.map(|at| OtherWork { what: format!("branch {}", workspace.branch()), commit: at.clone() });
    let others: Vec<&OtherWork> = collected.others.iter().chain(&left).collect();
    if others.is_empty() {
        return Ok(());
    }
    let Area { repo, vault, .. } = workspace.area();
    let mut kept: BTreeSet<Oid> =
        git::list_snapshots(vault, Some(run))?.into_iter().filter_map(|snapshot| snapshot.head).collect();
    let new = others.into_iter().filter(|other| kept.insert(other.commit.clone()));
    let commits: Vec<(Oid, String)> =
        new.map(|other| (other.commit.clone(), format!("the agent's {}", other.what))).collect();
    let at_seconds = clock::now().0 / 1_000;
    git::keep_commits(&KeepCommits { repo, vault, run, commits: &commits, at_seconds }).map(drop)
}
