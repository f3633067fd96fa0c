//! The end of a run on this machine: the work in safety, the leftovers committed, the claims compared with git, the
//! end recorded.
//!
//! Owns what has to happen before a workspace may be used again, whoever does it: the keeper at the end, or a
//! reconciler in the place of a keeper that is gone. Must never move a branch of a run that is not ours any more.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::time::Duration;

use fleet_core::id::RunId;
use fleet_core::outcome::{Evidence, Names, RunResult, decide};
use fleet_core::problem::Outcome;
use fleet_core::run::{Ending, Reason, RunMove};
use fleet_core::task::Task;
use fleet_core::time::Millis;
use fleet_host::git::{
    self, Area, Checkout, Collected, CommitAndSnapshot, CommitLeftovers, Compression, GitError, KeepCommit,
    Leftovers, Oid, OtherWork, Published, TakeSnapshot, Untouched, Workspace, WorkspaceError,
};
use fleet_store::{Store, StoreError, ops};
use serde::{Deserialize, Serialize};

use crate::home::{Home, RunFolder, write_passing, write_private};
use crate::keeper::stage::StageRun;
use crate::{agents, clock, problems};

/// The longest pause between two attempts to tell the store.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How a run ended, written down before the store is told: whoever finds it can tell the store in our place.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct EndOfRun {
    pub(crate) run: RunId,
    pub(crate) fence: i64,
    pub(crate) ending: Ending,
    pub(crate) result: Option<RunResult>,
    /// When the provider lets the account go on, if it said so.
    #[serde(default)]
    pub(crate) reset: Option<Millis>,
}

impl EndOfRun {
    /// Writes it down. Not being able to is no reason to keep the store waiting.
    pub(crate) fn note(&self, folder: &RunFolder) -> std::io::Result<()> {
        if let Some(result) = &self.result {
            // The store has it, too.
            write_passing(&folder.result(), &serde_json::to_vec_pretty(result)?)?;
        }
        write_private(&folder.ending(), &serde_json::to_vec(self)?)
    }

    /// What was written down, if it was.
    pub(crate) fn noted(folder: &RunFolder) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(folder.ending()).ok()?).ok()
    }

    /// As the store wants it.
    pub(crate) fn as_op(&self, after: &ops::After, jitter: u64) -> ops::EndRun {
        ops::EndRun {
            run: self.run,
            fence: self.fence,
            ending: self.ending.clone(),
            result: self.result.as_ref().and_then(|result| serde_json::to_string(result).ok()),
            after: agents::until(after, self.reset),
            jitter,
            now: clock::now(),
        }
    }

    /// Tells the store, and tries again until it answers. `None` means that somebody else has decided.
    pub(crate) async fn record(&self, store: &Store, after: &ops::After) -> Outcome<Option<Task>> {
        let mut pause = Duration::from_millis(100);
        let (jitter, mut made_up) = (clock::entropy()?, false);
        loop {
            match store.call(self.as_op(after, jitter)).await {
                Ok(task) => return Ok(Some(task)),
                Err(StoreError::LeaseLost { .. } | StoreError::RunNotFound(_)) => return Ok(None),
                // The store was out of reach when the agent started or ended: that is made up for here.
                Err(StoreError::IllegalRun { .. }) if !made_up => {
                    made_up = true;
                    for event in [RunMove::Start, RunMove::Exit] {
                        let advance =
                            ops::AdvanceRun { run: self.run, fence: self.fence, event, now: clock::now() };
                        let _ = store.call(advance).await;
                    }
                }
                Err(error) if error.is_temporary() => {
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                Err(error) => return Err(problems::store(error)),
            }
        }
    }
}

/// What git shows of a run's work.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    /// Whether the branch has nothing of its own.
    pub(crate) is_empty: bool,
    pub(crate) saved: Saved,
    /// What people should know about where the work is.
    pub(crate) remarks: Vec<String>,
    pub(crate) commits: usize,
    pub(crate) files: usize,
    pub(crate) names: Names,
}

/// Cleaning a workspace of more files than this takes longer than writing a new one mostly does.
const BULK: usize = 10_000;

/// How much of the work is in safety.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Saved {
    /// All of it.
    #[default]
    All,
    /// All of it, and so many files that a new workspace is quicker than a clean one.
    Bulky,
    NothingToSave(Untouched),
    /// All but files that cannot be read or stored: the workspace itself has to be kept.
    Incomplete,
}

impl Saved {
    fn but(skips: &git::Skips, unread: Option<&String>) -> Self {
        if skips.is_a_loss() || unread.is_some() { Self::Incomplete } else { Self::All }
    }

    /// What holds when more was looked at.
    pub(crate) fn and(self, more: Self) -> Self {
        match (self, more) {
            (Self::Incomplete, _) | (_, Self::Incomplete) => Self::Incomplete,
            (Self::Bulky, _) => Self::Bulky,
            (_, more) => more,
        }
    }

    /// What becomes of the workspace: it goes back to the pool, or is set aside as it is.
    pub(crate) fn release(self, workspace: Workspace, home: &Home) -> Result<(), WorkspaceError> {
        match self {
            Self::All => workspace.release(),
            Self::Bulky => workspace.retire(),
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
    Ok(Saved::but(&snapshot.skips, collected.unread.as_ref()))
}

/// Saves everything before the agent is told to stop: an agent that is told to end may tidy up. Noted for those who wait for
/// that; without the note they wait for the end.
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
    Ok(snapshot.map_or(Saved::All, |snapshot| Saved::but(&snapshot.skips, None)))
}

fn wanted<'a>(
    workspace: &'a Workspace,
    (checkout, staged): (&'a Checkout, Option<&'a Oid>),
    (run, why): (&'a str, &'a str),
    now: Millis,
) -> TakeSnapshot<'a> {
    let (exclude, at_seconds) = (workspace.private(), now.0 / 1_000);
    TakeSnapshot { checkout, run, why, at_seconds, exclude, max_file: None, staged }
}

/// Whether somebody has removed the folder, or put a link in its place: then there is nothing in it to be kept.
pub(crate) fn is_gone(workspace: &Workspace) -> bool {
    match std::fs::symlink_metadata(workspace.path()) {
        Ok(found) => !found.is_dir(),
        Err(error) => error.kind() == ErrorKind::NotFound,
    }
}

/// What there is of a run that did nothing at all, as with most tasks that only look: one question instead of many.
/// Changes nothing. `None` if something was done, or if it cannot be told.
pub(crate) fn show_nothing(workspace: &Workspace, base: &Oid) -> Option<Shown> {
    let saved = Saved::NothingToSave(workspace.untouched(base)?);
    Some(Shown { is_empty: true, saved, ..Shown::default() })
}

/// Commits what the agent left uncommitted, puts everything in safety, brings the branch to the user and tells what
/// there is now.
///
/// In this order: when the branch is published, or cannot be, a snapshot has everything. Until it has, everything stays
/// where it is.
pub(crate) fn show(workspace: &Workspace, run: RunId, base: &Oid, message: &str) -> Result<Shown, GitError> {
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
    let saved = Saved::but(&skips, collected.unread.as_ref());
    let mut remarks = remarks(&leftovers, &collected);
    // An agent that detached its HEAD or made a branch of its own did its work there. The branch follows if that loses
    // nothing.
    let left = left_branch(workspace, &collected)?;
    let work = Work { run, base, target: left.unwrap_or(&head), head: &head, is_dense: leftovers.is_dense };
    remarks.extend(publish(workspace, &work)?);
    if work.target == base {
        return Ok(Shown { is_empty: head == *base, saved, remarks, ..Shown::default() });
    }
    let shown = compare(&checkout, base, work.target)?;
    let bulk = if shown.files > BULK { Saved::Bulky } else { Saved::All };
    Ok(Shown { saved: bulk.and(saved), remarks, ..shown })
}

/// Where the agent left the branch of the run, if what it has checked out does not contain that.
fn left_branch<'a>(workspace: &Workspace, collected: &'a Collected) -> Result<Option<&'a Oid>, GitError> {
    let Some(at) = collected.branch.as_ref().filter(|at| **at != collected.head) else { return Ok(None) };
    let is_contained = git::is_ancestor(&workspace.area().vault, at, &collected.head)?;
    Ok((!is_contained).then_some(at))
}

/// Keeps what the agent committed beside what it has checked out, each as a snapshot. Its own branch, too: it may not be
/// possible to publish that.
fn keep_others(workspace: &Workspace, run: &str, collected: &Collected) -> Result<(), GitError> {
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
    for other in others {
        if !kept.insert(other.commit.clone()) {
            continue;
        }
        let why = format!("the agent's {}", other.what);
        let at_seconds = clock::now().0 / 1_000;
        git::keep_commit(&KeepCommit { repo, vault, run, commit: &other.commit, why: &why, at_seconds })?;
    }
    Ok(())
}

/// The committed work of a run.
struct Work<'a> {
    run: RunId,
    base: &'a Oid,
    /// Where the branch should be.
    target: &'a Oid,
    /// What the agent has checked out, with what it left uncommitted.
    head: &'a Oid,
    is_dense: bool,
}

/// Brings the branch of the run to where its work is. What people should know, if the branch does not have all of it.
fn publish(workspace: &Workspace, work: &Work<'_>) -> Result<Option<String>, GitError> {
    let Work { run, base, target, head, is_dense } = *work;
    let compression = if is_dense { Compression::None } else { Compression::Quick };
    // A branch on which nothing was done need not be made.
    let published = if target == base && workspace.published().is_none() {
        Published::Done
    } else {
        workspace.publish(target, compression)?
    };
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

/// What becomes of the branch of a run that changed nothing: it goes, unless it is where work of others was joined.
pub(crate) fn settle_empty_branch(
    workspace: &Workspace,
    base: &Oid,
    stage: Option<&StageRun>,
) -> Result<(), GitError> {
    let area = workspace.area();
    if stage.is_some_and(|stage| !stage.is_known(area, base)) {
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
pub(crate) fn show_committed(workspace: &Workspace, base: &Oid) -> Result<Shown, GitError> {
    let checkout = workspace.checkout()?;
    let head = git::head_commit(&checkout.git_dir)?;
    let target = match workspace.published() {
        // The agent had left its branch, which was published as it was.
        Some(at) if !git::is_ancestor(&checkout.common_dir, &at, &head)? => at,
        _ => head.clone(),
    };
    if target == *base {
        return Ok(Shown { is_empty: head == *base, ..Shown::default() });
    }
    compare(&checkout, base, &target)
}

fn compare(checkout: &Checkout, base: &Oid, head: &Oid) -> Result<Shown, GitError> {
    let changes = git::changes(&checkout.common_dir, base, head)?;
    let text = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
    let names = Names {
        files: changes.files.iter().map(|file| text(&file.path)).collect(),
        commits: changes.commits.iter().map(|commit| commit.oid.to_string()).collect(),
    };
    let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let (commits, files) = (count(changes.commits_total), count(changes.files_total));
    Ok(Shown { commits, files, names, ..Shown::default() })
}

/// Work that is not where everybody looks for it.
fn remarks(leftovers: &Leftovers, collected: &Collected) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(why) = &collected.unread {
        let why = why.lines().next().unwrap_or_default();
        remarks.push(format!("the agent's own repository could not be read, so its folder is kept in worktrees/.kept of the fleet's home: {why}"));
    }
    if leftovers.skips.total > 0 {
        let first = leftovers.skips.named.iter().take(5);
        let names: Vec<_> = first.map(|skipped| String::from_utf8_lossy(&skipped.path)).collect();
        remarks.push(format!(
            "not committed, but kept: {} ({} in all)",
            names.join(", "),
            leftovers.skips.total
        ));
    }
    remarks
}

/// What was seen of the agent, together with what git shows.
pub(crate) struct Case {
    pub(crate) evidence: Evidence,
    names: Names,
    remarks: Vec<String>,
}

impl Case {
    /// Puts both together.
    pub(crate) fn new(mut evidence: Evidence, shown: Result<Shown, GitError>) -> Self {
        match shown {
            Ok(Shown { commits, files, names, remarks, .. }) => {
                (evidence.commits, evidence.files) = (commits, files);
                Self { evidence, names, remarks }
            }
            Err(error) => {
                let text = format!("what the agent left could not be looked at: {error}");
                evidence.failure.get_or_insert((Reason::WorkspaceFailed, text));
                Self { evidence, names: Names::default(), remarks: Vec::new() }
            }
        }
    }

    /// Decides.
    pub(crate) fn judge(self) -> (Ending, RunResult) {
        let ending = decide(&self.evidence);
        let mut result = RunResult::new(&self.evidence, &ending, self.names);
        result.remarks.extend(self.remarks);
        (ending, result)
    }
}

/// The message of the commit that codefleet makes itself.
pub(crate) fn commit_message(task: &Task, agent: &str) -> String {
    format!(
        "{}\n\nLeft uncommitted by {agent}; committed by codefleet for task {}.\n",
        task.spec.title, task.id
    )
}
