//! Opening a workspace: recycling a warm worktree, or making a new one.

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use super::clean::{self, LONG};
use super::print::Print;
use super::register::register;
use super::slot::{Claim, Held, Phase};
use super::untouched::{Stamp, Used};
use super::{Area, Keep, Open, StartAt, Workspace, WorkspaceError};
use crate::git::checkout::Checkout;
use crate::git::command::{Answer, Git};
use crate::git::error::GitError;
use crate::git::files::{self, Tip};
use crate::git::oid::Oid;
use crate::git::refs::{self, branch_commit, branch_conflict, checked_out_at, delete_branch};

/// What came of trying a warm worktree.
enum Recycled {
    Ready(Checkout, Option<Print>),
    /// It is not as it should be. Whoever changed it may want to look at it.
    Unfit,
}

impl Area {
    /// Opens a workspace on a branch: clean, with the files of the branch and no others.
    ///
    /// A warm worktree that is as it was left costs no git process, another one two; a new one costs one, which writes
    /// all files. A process that is killed in here leaves a slot that [`adopt`](Area::adopt) clears or hands out with
    /// nothing in it, and perhaps the new branch, at the commit where it starts.
    pub fn open(&self, open: &Open) -> Result<Workspace, WorkspaceError> {
        refs::full_name(&open.branch)?;
        self.make_folders()?;
        let opened = self.open_somewhere(open);
        if let (Err(error), StartAt::New(at)) = (&opened, &open.start)
            && !matches!(error, WorkspaceError::Git(GitError::BranchTaken { .. }))
        {
            // Ours, if it got that far: another attempt must not find the name taken. That it is there still is
            // no reason to hide why all this failed.
            let _ = delete_branch(&self.repo, &open.branch, at);
        }
        opened
    }

    fn open_somewhere(&self, open: &Open) -> Result<Workspace, WorkspaceError> {
        let mut start = open.start.clone();
        for place in self.places()? {
            let Some(held) = place.try_hold()? else { continue };
            // Only under the lock is the absence of a note worth anything.
            if place.beside("json").exists() || !place.path.exists() {
                continue;
            }
            let held = match self.reopen(held, open, &start)? {
                Ok(workspace) => return Ok(workspace),
                Err(held) => held,
            };
            let claim = claim_of(open);
            held.write_claim(&claim)?;
            match self.recycle(&held, open, &start) {
                Ok(Recycled::Ready(checkout, print)) => {
                    let mut workspace = self.finish(held, claim, (checkout, true))?;
                    workspace.print = print;
                    return Ok(workspace);
                }
                Ok(Recycled::Unfit) => {
                    self.discard(&held)?;
                    held.remove_claim()?;
                    // The attempt may have got as far as making the branch.
                    if let StartAt::New(at) = &open.start
                        && branch_commit(&self.repo, &open.branch)?.as_ref() == Some(at)
                    {
                        start = StartAt::Continue;
                    }
                }
                Err(error) => {
                    held.remove_claim()?;
                    return Err(error);
                }
            }
        }
        let held = self.hold_empty()?;
        let claim = claim_of(open);
        held.write_claim(&claim)?;
        match self.create(&held, open, &start) {
            Ok(checkout) => self.finish(held, claim, (checkout, false)),
            Err(error) => {
                self.discard(&held)?;
                held.remove_claim()?;
                Err(error)
            }
        }
    }

    /// Switches a warm worktree to the branch, without force: what does not belong there must come to light.
    fn recycle(&self, held: &Held, open: &Open, start: &StartAt) -> Result<Recycled, WorkspaceError> {
        let Some(checkout) = clean::connected(self, held.path()) else { return Ok(Recycled::Unfit) };
        clean::purge(&checkout)?;
        let switched = match start {
            StartAt::New(at) if files::head_commit(&checkout.git_dir) == Some(Tip::At(at.clone())) => {
                begin(held, &checkout, &open.branch, at)?
            }
            _ => switch(held, &checkout, &Switch { branch: &open.branch, start, force: false })?,
        };
        if switched.code != Some(0) {
            return match self.obstacle(open, start, &switched)? {
                Some(error) => Err(error),
                // Not the fault of the worktree: the next one would fail as well.
                None if clean::is_clean(&checkout, self.keep)? => Err(switched.failure().into()),
                None => Ok(Recycled::Unfit),
            };
        }
        // Before it is proven clean: what changes after that changes the print.
        let now = held.noted_at().filter(|_| self.keep == Keep::Nothing);
        let print = now.and_then(|now| Print::settled(&checkout.work_tree, now));
        if !clean::is_clean(&checkout, self.keep)? {
            return Ok(Recycled::Unfit);
        }
        Ok(Recycled::Ready(checkout, print))
    }

    /// Makes a new worktree.
    fn create(&self, held: &Held, open: &Open, start: &StartAt) -> Result<Checkout, WorkspaceError> {
        // A folder that was removed by hand is still known to git.
        self.discard(held)?;
        let commit = match start {
            StartAt::New(at) => at.clone(),
            StartAt::Continue => branch_commit(&self.repo, &open.branch)?
                .ok_or_else(|| WorkspaceError::NoSuchBranch { branch: open.branch.clone() })?,
        };
        let checkout = register(self, held.path(), &commit)?;
        // With force: the worktree is empty, which looks as if all its files had been removed.
        let switched = switch(held, &checkout, &Switch { branch: &open.branch, start, force: true })?;
        if switched.code != Some(0) {
            let reason = self.obstacle(open, start, &switched)?;
            return Err(reason.unwrap_or_else(|| switched.failure().into()));
        }
        Ok(checkout)
    }

    /// Why a branch cannot be checked out, in terms that a person can act on; `None` if it is not about the branch.
    fn obstacle(
        &self,
        open: &Open,
        start: &StartAt,
        answer: &Answer,
    ) -> Result<Option<WorkspaceError>, WorkspaceError> {
        let branch = open.branch.clone();
        match start {
            StartAt::New(at) => {
                if let Some(why) = branch_conflict(&self.repo, &branch)? {
                    return Ok(Some(GitError::BranchTaken { branch, why }.into()));
                }
                refs::resolve_commit(&self.repo, at.as_str())?;
            }
            StartAt::Continue => {
                if branch_commit(&self.repo, &branch)?.is_none() {
                    return Ok(Some(WorkspaceError::NoSuchBranch { branch }));
                }
                // Git also refuses a branch that is being rebased or bisected elsewhere, and only it knows where.
                let place = checked_out_at(&self.repo, &branch)?.or_else(|| place_of_use(&answer.stderr));
                if let Some(place) = place {
                    return Ok(Some(WorkspaceError::BranchInUse { branch, place }));
                }
            }
        }
        Ok(None)
    }

    fn finish(
        &self,
        held: Held,
        mut claim: Claim,
        (checkout, recycled): (Checkout, bool),
    ) -> Result<Workspace, WorkspaceError> {
        if checkout.work_tree.join(".gitmodules").exists()
            && let Err(error) = update_submodules(&held, &checkout)
        {
            self.give_back(&held, Some(&checkout), Used::Somehow)?;
            return Err(error);
        }
        claim.phase = Phase::Open;
        claim.git_dir = Some(checkout.git_dir.clone());
        held.write_claim(&claim)?;
        let index = Stamp::of_index(&checkout);
        Ok(Workspace { area: self.clone(), held, claim, checkout, recycled, index, print: None })
    }
}

/// The path in "fatal: 'x' is already used by worktree at '/path'", or in how older versions say it.
fn place_of_use(stderr: &str) -> Option<PathBuf> {
    let line = stderr.lines().find(|line| line.contains(" is already "))?;
    let (_, place) = line.split_once(" at '")?;
    place.strip_suffix('\'').map(PathBuf::from)
}

pub(super) fn claim_of(open: &Open) -> Claim {
    Claim {
        owner: open.owner.clone(),
        branch: open.branch.clone(),
        phase: Phase::Opening,
        git_dir: None,
        private: Vec::new(),
    }
}

/// What to check out.
struct Switch<'a> {
    branch: &'a str,
    start: &'a StartAt,
    force: bool,
}

fn switch(held: &Held, checkout: &Checkout, switch: &Switch<'_>) -> Result<Answer, WorkspaceError> {
    let mut attempts = 5;
    loop {
        let git = Git::within(checkout).stdin(held.shared_lock()?).patience(LONG);
        let git = git.args(["checkout", "--quiet", "--no-guess"]);
        let git = if switch.force { git.arg("--force") } else { git };
        let git = match switch.start {
            StartAt::New(at) => git.args(["--no-track", "-b", switch.branch, at.as_str(), "--"]),
            StartAt::Continue => git.args([switch.branch, "--"]),
        };
        let answer = git.answer()?;
        attempts -= 1;
        // Someone else's `git worktree add` at the same moment, of which git reads a file half written.
        let disturbed = answer.code != Some(0) && answer.stderr.contains("commondir");
        if !disturbed || attempts == 0 {
            return Ok(answer);
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Makes the branch in a worktree that is at its commit already, and leads `HEAD` there: a checkout would look at every
/// file and find that there is nothing to do. That it is so is proven afterwards, as with a checkout.
fn begin(held: &Held, checkout: &Checkout, branch: &str, at: &Oid) -> Result<Answer, WorkspaceError> {
    let git = Git::about(&checkout.common_dir).stdin(held.shared_lock()?);
    let answer = git.args(["branch", "--quiet", "--no-track", "--", branch, at.as_str()]).answer()?;
    if answer.code == Some(0) {
        clean::lead_head(checkout, &format!("ref: {}", refs::full_name(branch)?))?;
    }
    Ok(answer)
}

/// Checks the submodules out. Which transports it may use is for the user's own configuration to say.
fn update_submodules(held: &Held, checkout: &Checkout) -> Result<(), WorkspaceError> {
    Git::standing_in(&checkout.work_tree)
        .stdin(held.shared_lock()?)
        .patience(LONG)
        .args(["submodule", "--quiet", "update", "--init", "--recursive"])
        .run()
        .map_err(WorkspaceError::Submodules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_says_where_a_branch_is_used() {
        let new = "fatal: 'a' is already used by worktree at '/x/it's here'";
        assert_eq!(place_of_use(new), Some("/x/it's here".into()));
        assert_eq!(place_of_use("hint\nfatal: 'a' is already checked out at '/x'"), Some("/x".into()));
        assert_eq!(place_of_use("fatal: a branch named 'a' already exists"), None);
    }
}
