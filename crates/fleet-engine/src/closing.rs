//! The end of a run on this machine: the work in safety, the leftovers committed, the claims compared with git, the
//! end recorded.
//!
//! Owns what has to happen before a workspace may be used again, whoever does it: the keeper at the end, or a
//! reconciler in the place of a keeper that is gone. Must never move a branch of a run that is not ours any more.

use std::io::ErrorKind;
use std::time::Duration;

use fleet_core::id::RunId;
use fleet_core::outcome::{Evidence, Names, RunResult, decide};
use fleet_core::problem::Outcome;
use fleet_core::run::{Ending, Reason, RunMove};
use fleet_core::task::Task;
use fleet_core::time::Millis;
use fleet_host::git::{
    self, BranchHas, Checkout, GitError, Leftovers, Oid, TakeSnapshot, Untouched, Workspace, WorkspaceError,
};
use fleet_store::{Store, StoreError, ops};
use serde::{Deserialize, Serialize};

use crate::home::{Home, RunFolder, write_passing, write_private};
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

/// How much of the work is in safety.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Saved {
    /// All of it.
    #[default]
    All,
    /// There was nothing to be saved.
    Needless(Untouched),
    /// All but files that cannot be read or stored: the workspace itself has to be kept.
    Some,
}

impl Saved {
    fn but(skips: &git::Skips) -> Self {
        if skips.is_a_loss() { Self::Some } else { Self::All }
    }

    /// What becomes of the workspace: it goes back to the pool, or is set aside as it is.
    pub(crate) fn release(self, workspace: Workspace, home: &Home) -> Result<(), WorkspaceError> {
        match self {
            Self::All => workspace.release(),
            Self::Needless(seen) => workspace.release_untouched(&seen),
            Self::Some => workspace.set_aside(&home.kept()),
        }
    }
}

/// Puts the work in safety; touches nothing that the agent can see.
pub(crate) fn save(workspace: &Workspace, run: RunId, why: &str, now: Millis) -> Result<Saved, GitError> {
    let (checkout, run) = (workspace.checkout()?, run.to_string());
    let snapshot = git::take_snapshot(&wanted(workspace, &checkout, (&run, why), now))?;
    Ok(Saved::but(&snapshot.skips))
}

/// The same, before the agent is told to stop: an agent that is told to end may tidy up. Noted for those who wait for
/// that; without the note they wait for the end.
pub(crate) fn save_before_stop(
    workspace: &Workspace,
    run: RunId,
    folder: &RunFolder,
) -> Result<Saved, GitError> {
    let saved = save(workspace, run, "before it was stopped", clock::now())?;
    let _ = write_private(&folder.saved(), b"");
    Ok(saved)
}

/// The same, if there is anything that no branch has.
pub(crate) fn save_rest(
    workspace: &Workspace,
    run: RunId,
    why: &str,
    now: Millis,
) -> Result<Saved, GitError> {
    let (checkout, run) = (workspace.checkout()?, run.to_string());
    let snapshot = git::take_snapshot_of_rest(&wanted(workspace, &checkout, (&run, why), now))?;
    Ok(snapshot.map_or(Saved::All, |snapshot| Saved::but(&snapshot.skips)))
}

fn wanted<'a>(
    workspace: &'a Workspace,
    checkout: &'a Checkout,
    (run, why): (&'a str, &'a str),
    now: Millis,
) -> TakeSnapshot<'a> {
    let (exclude, at_seconds) = (workspace.private(), now.0 / 1_000);
    TakeSnapshot { checkout, run, why, at_seconds, exclude, max_file: None }
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
    let saved = Saved::Needless(workspace.untouched(base)?);
    Some(Shown { is_empty: true, saved, ..Shown::default() })
}

/// Commits what the agent left uncommitted, puts everything in safety and tells what there is now.
///
/// In this order: work that the branch could not follow (an agent detached its HEAD, or somebody else moved the
/// branch) is then reachable from the snapshot. Until it is, everything stays where it is.
pub(crate) fn show(workspace: &Workspace, run: RunId, base: &Oid, message: &str) -> Result<Shown, GitError> {
    let checkout = workspace.checkout()?;
    git::revive_branch(&checkout, workspace.branch(), base)?;
    if git::has_staged_alone(&checkout)? {
        save(workspace, run, "before it was committed", clock::now())?;
    }
    let leftovers = git::commit_leftovers(&git::CommitLeftovers {
        checkout: &checkout,
        branch: workspace.branch(),
        message,
        exclude: workspace.private(),
    })?;
    let remarks = remarks(run, &leftovers);
    let Some(head) = leftovers.head.filter(|head| head != base) else {
        // Nothing is on the branch. What a commit does not take may be there all the same: changes inside of a
        // submodule, files that a filter refuses.
        let saved = save_rest(workspace, run, "at the end", clock::now())?;
        return Ok(Shown { is_empty: true, saved, remarks, ..Shown::default() });
    };
    let saved = save(workspace, run, "at the end", clock::now())?;
    Ok(Shown { saved, remarks, ..compare(&checkout, base, &head)? })
}

/// The same for a workspace in which the checks had begun: the agent's work was committed before, and what is left there
/// is theirs. Neither commits nor saves anything.
pub(crate) fn show_committed(workspace: &Workspace, base: &Oid) -> Result<Shown, GitError> {
    let checkout = workspace.checkout()?;
    match git::branch_commit(&checkout.common_dir, workspace.branch())?.filter(|head| head != base) {
        Some(head) => compare(&checkout, base, &head),
        None => Ok(Shown { is_empty: true, ..Shown::default() }),
    }
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
fn remarks(run: RunId, leftovers: &Leftovers) -> Vec<String> {
    let mut remarks = Vec::new();
    if matches!(leftovers.branch, BranchHas::NotTheWork { .. }) {
        remarks.push(format!(
            "the branch does not have all of the work, because the agent left it: `fleet undo {run}` makes a branch of it"
        ));
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
