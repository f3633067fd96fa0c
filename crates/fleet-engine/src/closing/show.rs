//! Showing: the leftovers committed, the branch brought to the user, and what git then says about the work.

use std::thread;

use fleet_core::id::RunId;
use fleet_core::outcome::EvidenceNames;
use fleet_host::git::{
    self, Checkout, Collected, CommitAndSnapshot, CommitLeftovers, CommitLine, Compression, GitError,
    Leftovers, NotPublished, Oid, Published, Workspace,
};

use super::save::{Saved, keep_others, left_branch, wanted};
use crate::clock;
use crate::keeper::prior_work::PriorWork;

/// Cleaning a workspace of more files than this takes longer than writing a new one mostly does.
const MAX_CLEANED_FILES: usize = 10_000;

/// What git shows of a run's work.
#[derive(Debug, Default)]
pub(crate) struct ShownWork {
    /// Whether the branch has nothing of its own.
    pub(crate) is_empty: bool,
    pub(crate) saved: Saved,
    /// What people should know about where the work is.
    pub(crate) remarks: Vec<String>,
    /// Whether a branch of that name exists that is not the task's.
    pub(crate) branch_taken: bool,
    /// Whether the branch lacks the last commits.
    pub(crate) unpublished: bool,
    pub(crate) commits: usize,
    pub(crate) files: usize,
    pub(crate) names: EvidenceNames,
}

/// How much of the work is saved after it was published; `None` if it should be tried again.
pub(crate) fn saved_in(shown: &Result<ShownWork, GitError>) -> Option<Saved> {
    match shown {
        Ok(shown) => Some(shown.saved.clone()),
        Err(error) => error.is_too_much().then_some(Saved::Incomplete),
    }
}

/// What there is of a run that did nothing at all, as with most tasks that only look: one question instead of many.
/// Changes nothing. `None` if something was done, or if that is not known.
pub(crate) fn show_nothing(workspace: &Workspace, base: &Oid) -> Option<ShownWork> {
    let saved = Saved::NothingToSave(workspace.untouched(base)?);
    Some(ShownWork { is_empty: true, saved, ..ShownWork::default() })
}

/// Commits what the agent left uncommitted, saves everything, publishes the branch to the user's repository and returns
/// what is there now.
///
/// In this order: when the branch is published, or cannot be, a snapshot has everything. Until it has, everything stays
/// where it is.
pub(crate) fn show(
    workspace: &Workspace,
    run: RunId,
    base: &Oid,
    message: &str,
) -> Result<ShownWork, GitError> {
    let (collected, run_name) = (workspace.collect()?, run.to_string());
    let checkout = workspace.checkout()?;
    // First, so that the snapshot of the work is the last: `fleet undo` takes that.
    let others = keep_others(workspace, &run_name, &collected);
    let commit = CommitLeftovers { checkout: &checkout, message, exclude: workspace.private() };
    let staged = collected.staged.as_ref();
    let snapshot = wanted(workspace, (&checkout, staged), (&run_name, "at the end"), clock::now());
    let (leftovers, snapshot) = git::commit_and_snapshot(&CommitAndSnapshot { commit, snapshot, base })?;
    others?;
    let head = leftovers.head.clone().unwrap_or_else(|| collected.head.clone());
    let skips = snapshot.map(|snapshot| snapshot.skips).unwrap_or_default();
    let saved = Saved::except(&skips, collected.unread.as_ref());
    let mut remarks = remarks(&leftovers, &collected, &saved);
    // An agent that detached its HEAD or made its own branch did its work there. The branch follows if that loses
    // nothing.
    let left = left_branch(workspace, &collected)?;
    let work =
        RunWork { run, base, target: left.unwrap_or(&head), head: &head, is_dense: leftovers.is_dense };
    let of_one = leftovers.commit.as_ref() == Some(work.target) && leftovers.parent.as_ref() == Some(base);
    let subject = of_one.then(|| message.lines().next().unwrap_or_default());
    // Neither waits for the other, and both ask git.
    let (published, compared) = thread::scope(|scope| {
        let compare = || compare(&checkout, (base, work.target), subject);
        let compared = scope.spawn(compare);
        (publish(workspace, &work), compared.join().unwrap_or_else(|_| compare()))
    });
    let published = published?;
    let branch_taken = matches!(published, Published::Kept(NotPublished::NameTaken { .. }));
    let unpublished = published != Published::Done;
    remarks.extend(not_all_published(workspace, &work, &published)?);
    let shown = compared?;
    let is_empty = work.target == base && head == *base;
    let bulk = if shown.files > MAX_CLEANED_FILES { Saved::Unfit } else { Saved::All };
    Ok(ShownWork { is_empty, saved: bulk.and(saved), remarks, branch_taken, unpublished, ..shown })
}

struct RunWork<'a> {
    run: RunId,
    base: &'a Oid,
    target: &'a Oid,
    /// What the agent has checked out, with what it left uncommitted.
    head: &'a Oid,
    is_dense: bool,
}

/// Brings the branch of the run to where its work is.
fn publish(workspace: &Workspace, work: &RunWork<'_>) -> Result<Published, GitError> {
    let compression = if work.is_dense { Compression::None } else { Compression::Quick };
    // A branch on which nothing was done need not be made.
    if work.target == work.base && workspace.published().is_none() {
        return Ok(Published::Done);
    }
    workspace.publish(work.target, compression)
}

/// What people should know if the branch does not have all of the work.
fn not_all_published(
    workspace: &Workspace,
    work: &RunWork<'_>,
    published: &Published,
) -> Result<Option<String>, GitError> {
    let RunWork { run, target, head, .. } = *work;
    if let Published::Kept(why) = published {
        let branch = workspace.branch();
        return Ok(Some(format!(
            "the branch {branch} was left alone ({why}): `fleet undo {run}` makes a branch of the work"
        )));
    }
    let has_all = target == head || git::is_ancestor(&workspace.area().vault, head, target)?;
    Ok((!has_all).then(|| {
        format!(
            "the branch does not have all of the work, because the agent left it: `fleet undo {run}` makes a branch of it"
        )
    }))
}

/// What becomes of the branch of a run that changed nothing: it goes, unless it is where work of others was joined, or
/// was there before its task.
pub(crate) fn settle_empty_branch(
    workspace: &Workspace,
    base: &Oid,
    prior: Option<&PriorWork>,
) -> Result<(), GitError> {
    if workspace.has_existing_branch() {
        return Ok(());
    }
    let area = workspace.area();
    if prior.is_some_and(|prior| !prior.is_known(area, base)) {
        return workspace.publish(base, Compression::Quick).map(drop);
    }
    // A branch that is at the same commit and was not made by this task is a person's.
    if workspace.published().as_ref() != Some(base) {
        return Ok(());
    }
    git::delete_branch(&area.repo, workspace.branch(), base).map(drop)
}

/// The same for a workspace in which the checks had begun: the agent's work was committed before, and what is left there
/// is theirs. Neither commits nor saves anything.
pub(crate) fn show_committed(workspace: &Workspace, base: &Oid) -> Result<ShownWork, GitError> {
    let checkout = workspace.checkout()?;
    let head = git::head_commit(&checkout.git_dir)?;
    let target = match workspace.published() {
        // The agent had left its branch, which was published as it was.
        Some(at) if !git::is_ancestor(&checkout.common_dir, &at, &head)? => at,
        _ => head.clone(),
    };
    let shown = compare(&checkout, (base, &target), None)?;
    let unpublished = target != *base && workspace.published().as_ref() != Some(&target);
    Ok(ShownWork { is_empty: target == *base && head == *base, unpublished, ..shown })
}

/// What `head` has that `base` has not. The subject is known of a single commit on top of `base`.
fn compare(
    checkout: &Checkout,
    (base, head): (&Oid, &Oid),
    subject: Option<&str>,
) -> Result<ShownWork, GitError> {
    if head == base {
        return Ok(ShownWork::default());
    }
    let repo = &checkout.common_dir;
    let changes = match subject {
        Some(subject) => {
            git::changes_of_one(repo, base, CommitLine { oid: head.clone(), subject: subject.to_owned() })?
        }
        None => git::changes(repo, base, head)?,
    };
    let text = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
    let names = EvidenceNames {
        files: changes.files.iter().map(|file| text(&file.path)).collect(),
        commits: changes.commits.iter().map(|commit| commit.oid.to_string()).collect(),
    };
    let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let (commits, files) = (count(changes.commits_total), count(changes.files_total));
    Ok(ShownWork { commits, files, names, ..ShownWork::default() })
}

/// What becomes of a workspace that cannot be saved as a whole.
pub(super) const KEPT_REMARK: &str = "its folder is kept in worktrees/.kept of the fleet's home";

/// Work that is not on its branch.
fn remarks(leftovers: &Leftovers, collected: &Collected, saved: &Saved) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(why) = &collected.unread {
        let why = why.lines().next().unwrap_or_default();
        remarks.push(format!("the agent's own repository could not be read, so {KEPT_REMARK}: {why}"));
    }
    if leftovers.skips.total > 0 {
        let first = leftovers.skips.named.iter().take(5);
        let names: Vec<_> = first.map(|skipped| String::from_utf8_lossy(&skipped.path)).collect();
        let place = if *saved == Saved::Incomplete { format!("; {KEPT_REMARK}") } else { String::new() };
        remarks.push(format!(
            "not committed, but kept: {} ({} in all){place}",
            names.join(", "),
            leftovers.skips.total
        ));
    }
    remarks
}
