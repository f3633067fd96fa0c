//! What an agent did in its repository, brought into ours.
//!
//! Owns which of the agent's refs count as its work, and how they get into the vault and on into the user's repository.
//! The agent's repository is read as data; its objects are checked before they are taken.

use std::collections::BTreeSet;
use std::fs;
use std::sync::PoisonError;

use super::clean::set_head;
use super::object_transfer::ObjectTransfer;
use super::worktrees::{self, Worktree};
use super::{Workspace, given, size};
use crate::git::command::Git;
use crate::git::commit::agents_commit;
use crate::git::error::GitError;
use crate::git::files::Head;
use crate::git::foreign::{ForeignError, ForeignGitDir, Unreadable};
use crate::git::oid::Oid;
use crate::git::refs;
use crate::git::stamp::Stamp;

/// Refs that also exist elsewhere.
const FETCHED: &str = "refs/remotes/";
/// Refs of an agent that are not its work: what it fetched, and stashes, which are found by their log.
const NOT_WORK: [&str; 5] = [FETCHED, "refs/stash", "refs/pull/", "refs/prefetch/", "refs/merge-requests/"];
/// More branches and stashes than anyone uses.
const MAX_OTHERS: usize = 1_000;

/// An agent that leaves more commits behind is testing git.
const MAX_LEFT: usize = 50;

/// What an agent did in its repository; all of it is in the vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collected {
    /// The commit that the agent has checked out, or the one that we made on top of it. Our own `HEAD` is there, too.
    pub head: Oid,
    /// Where the agent has the branch of the run; `None` if it deleted that.
    pub branch: Option<Oid>,
    /// The agent's other branches and stashes that have something of their own.
    pub others: Vec<OtherWork>,
    /// The tree of what is staged, if that is not what `head` has.
    pub staged: Option<Oid>,
    /// Why not everything could be taken: then the workspace has to be kept as it is.
    pub unread: Option<String>,
}

/// Something that an agent committed beside its branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherWork {
    pub what: String,
    pub commit: Oid,
}

/// Files of an agent's repository that change when it commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitMarks([Option<Stamp>; 4]);

struct CollectState {
    head: Option<Oid>,
    branch: Option<Oid>,
    others: Vec<OtherWork>,
    /// Commits that only the log of a `HEAD` knows.
    visited: Vec<Oid>,
    /// Those of them at which the agent had a detached `HEAD`, before it checked something else out.
    left: Vec<Oid>,
    worktrees: Vec<Worktree>,
    /// What could not be read.
    unread: Option<String>,
}

impl Workspace {
    /// Tells whether the agent has committed something since.
    pub fn marks(&self) -> CommitMarks {
        let dir = self.checkout.work_tree.join(".git");
        let branch = format!("refs/heads/{}", self.claim.branch);
        CommitMarks(["HEAD", "logs/HEAD", &branch, "packed-refs"].map(|name| Stamp::of(&dir.join(name))))
    }

    /// Takes what the agent committed and staged into the vault, and leads our `HEAD` to where the agent's is.
    pub fn collect(&self) -> Result<Collected, GitError> {
        let mut seen_to = self.collecting.lock().unwrap_or_else(PoisonError::into_inner);
        self.checkout()?;
        // Whatever the result: the next attempt to publish says so.
        let _ = self.hold_again();
        let at = self.own_head()?;
        let nothing = Collected {
            head: at.clone(),
            branch: self.claim.published.clone().or_else(|| self.claim.at.clone()),
            others: Vec::new(),
            staged: None,
            unread: None,
        };
        if self.claim.was_linked {
            return Ok(nothing);
        }
        let unread = |why: String| Collected { unread: Some(why), ..nothing.clone() };
        match self.take_all(&at, &mut seen_to) {
            Ok(collected) => Ok(collected),
            Err(ForeignError::Unreadable(why)) => Ok(unread(why.to_string())),
            Err(ForeignError::Git(error)) => Err(error),
        }
    }

    /// Where our own `HEAD` is: at the start, or where the agent's was when it was last looked at.
    fn own_head(&self) -> Result<Oid, GitError> {
        match refs::head(&self.checkout.git_dir)? {
            Some(head) => Ok(head),
            None => self.claim.at.clone().ok_or_else(|| GitError::Unborn { repo: self.vault.dir.clone() }),
        }
    }

    fn take_all(&self, at: &Oid, seen_to: &mut BTreeSet<Oid>) -> Result<Collected, ForeignError> {
        let foreign = ForeignGitDir::of(&self.checkout.work_tree)?;
        let state = self.read(&foreign)?;
        let known: Vec<Oid> = self.claim.at.iter().chain(&self.claim.held).chain([at]).cloned().collect();
        let mut taking = ObjectTransfer::new(self, &foreign, known);
        let mut unread = state.unread;
        let wanted: Vec<Oid> = state.head.iter().chain(&state.branch).cloned().collect();
        let taken = match taking.take(&wanted)? {
            Ok(()) => self.check_size(&wanted, at)?,
            refused => refused,
        };
        let (agents, branch) = match taken {
            Ok(()) => (state.head.unwrap_or_else(|| at.clone()), state.branch),
            Err(why) => {
                unread = Some(why);
                (at.clone(), self.claim.published.clone().or_else(|| self.claim.at.clone()))
            }
        };
        let mut others = taking.take_each(state.others, &mut unread)?;
        let reached = [Some(&agents), branch.as_ref(), self.claim.at.as_ref()];
        others.extend(self.left_behind(&mut taking, state.left, (&reached, &others))?);
        let visited: Vec<Oid> = state.visited.into_iter().filter(|tip| !seen_to.contains(tip)).collect();
        // Whatever is not whole any more was thrown away by the agent itself.
        let _ = taking.take(&visited)?;
        seen_to.extend(visited);
        // What we committed on top of it stays, or else it would be committed once more.
        let is_ours = agents_commit(&self.checkout, at).as_ref() == Some(&agents);
        let head = if is_ours { at.clone() } else { agents.clone() };
        match self.follow(at, &head) {
            Err(GitError::TimedOut { .. }) => {
                let unread = Some(format!("commit {head} takes too long to be read"));
                return Ok(Collected { head: at.clone(), branch, others, staged: None, unread });
            }
            followed => followed?,
        }
        let staged = taking.index(&agents, &mut unread)?;
        for worktree in &state.worktrees {
            others.extend(worktree.staged(self, &mut taking, &mut unread)?);
        }
        Ok(Collected { head, branch, others, staged, unread })
    }

    /// Of the commits that the agent left on a detached `HEAD`, those that nothing else reaches.
    fn left_behind(
        &self,
        taking: &mut ObjectTransfer<'_>,
        mut left: Vec<Oid>,
        (reached, others): (&[Option<&Oid>], &[OtherWork]),
    ) -> Result<Vec<OtherWork>, ForeignError> {
        let reached: BTreeSet<&Oid> =
            reached.iter().copied().flatten().chain(others.iter().map(|other| &other.commit)).collect();
        left.retain(|commit| !reached.contains(commit));
        left.truncate(MAX_LEFT);
        let what = |commit| OtherWork { what: "commit that no branch has".to_owned(), commit };
        // What is not whole any more was thrown away by the agent itself.
        let taken = taking.take_each(left.into_iter().map(what).collect(), &mut None)?;
        if taken.is_empty() {
            return Ok(taken);
        }
        let all = taken.iter().map(|other| &other.commit).chain(reached).map(Oid::as_str);
        let tips = Git::about(&self.vault.dir).args(["merge-base", "--independent"]).args(all).bytes()?;
        let tips = String::from_utf8_lossy(&tips);
        Ok(taken.into_iter().filter(|other| tips.lines().any(|tip| tip == other.commit.as_str())).collect())
    }

    /// The inner error says which of these commits is too large to be looked at.
    fn check_size(&self, commits: &[Oid], at: &Oid) -> Result<Result<(), String>, GitError> {
        let is_known = |commit: &Oid| commit == at || self.claim.at.as_ref() == Some(commit);
        let new: BTreeSet<&Oid> = commits.iter().filter(|commit| !is_known(commit)).collect();
        for commit in new {
            if let Some(why) = size::why_too_large(&self.vault, commit)? {
                return Ok(Err(why));
            }
        }
        Ok(Ok(()))
    }

    /// Leads our own index and `HEAD` to a commit of the agent's: what that tracks is tracked for us, too.
    fn follow(&self, from: &Oid, to: &Oid) -> Result<(), GitError> {
        if from == to {
            return Ok(());
        }
        let git = Git::within(&self.checkout).args(["read-tree", "-i", "-m", from.as_str(), to.as_str()]);
        let answer = git.answer();
        if let Err(GitError::TimedOut { .. }) = answer {
            // It was killed, and no other process uses our index.
            let _ = fs::remove_file(self.checkout.git_dir.join("index.lock"));
        }
        if answer?.code != Some(0) {
            // Then it is recreated from `HEAD`.
            let index = self.checkout.git_dir.join("index");
            fs::remove_file(&index).map_err(GitError::io(&index))?;
        }
        set_head(&self.checkout, to)
    }

    fn read(&self, foreign: &ForeignGitDir) -> Result<CollectState, Unreadable> {
        let own = format!("refs/heads/{}", self.claim.branch);
        let (head, refs) = (foreign.head()?, foreign.refs()?);
        let bad = refs.bad.iter().find(|name| !name.starts_with(FETCHED));
        let mut unread = bad.map(|name| format!("{name} cannot be read"));
        let mut logged = |log: Result<Vec<Oid>, Unreadable>| {
            log.unwrap_or_else(|error| {
                unread = Some(error.to_string());
                Vec::new()
            })
        };
        let (mut visited, stashes) = (logged(foreign.visited()), logged(foreign.stashes()));
        let mut left = logged(foreign.left());
        let at_head = foreign.commit(&refs, &head);
        // A branch that was deleted while it was checked out: its commits are known to the log of `HEAD` alone.
        let is_own = matches!(&head, Head::Branch(name) if *name == own);
        let at_head = at_head.or_else(|| visited.first().filter(|_| is_own).cloned());
        if refs.bad.contains(&own) {
            let path = foreign.dir().join(&own);
            return Err(Unreadable { path, why: "the branch of the run cannot be read".to_owned() });
        }
        let worktrees = worktrees::read(foreign, &refs, &mut unread);
        visited.extend(worktrees.iter().flat_map(|worktree| worktree.visited.iter().cloned()));
        let given = given::noted(&self.checkout);
        left.retain(|commit| !given.named.values().any(|known| known == commit));
        let is_new = |name: &str, oid: &Oid| {
            name != own
                && !NOT_WORK.iter().any(|kind| name.starts_with(kind))
                && given.named.get(name) != Some(oid)
        };
        let named = refs.named.iter().filter(|(name, oid)| is_new(name, oid)).map(|(name, oid)| {
            let short = name.strip_prefix("refs/heads/").map(|short| format!("branch {short}"));
            OtherWork { what: short.unwrap_or_else(|| name.clone()), commit: oid.clone() }
        });
        let stashes = stashes.into_iter().map(|commit| OtherWork { what: "stash".to_owned(), commit });
        let beside = worktrees.iter().filter_map(Worktree::work);
        let mut seen: BTreeSet<Oid> =
            given.named.values().chain(&at_head).chain(refs.named.get(&own)).cloned().collect();
        let is_first = |other: &OtherWork| seen.insert(other.commit.clone());
        let mut others: Vec<OtherWork> =
            stashes.chain(named).chain(beside).filter(is_first).take(MAX_OTHERS + 1).collect();
        if others.len() > MAX_OTHERS {
            others.truncate(MAX_OTHERS);
            unread = Some(format!("it has more than {MAX_OTHERS} branches and stashes"));
        }
        let branch = refs.named.get(&own).cloned();
        Ok(CollectState { head: at_head, branch, others, visited, left, worktrees, unread })
    }

    /// Whether there is nothing in the agent's repository that was not given to it.
    pub(super) fn has_nothing_of_an_agent(&self) -> bool {
        let at = self.claim.at.as_ref();
        self.collect().is_ok_and(|found| {
            found.unread.is_none()
                && Some(&found.head) == at
                && found.branch.as_ref() == at
                && found.others.is_empty()
                && found.staged.is_none()
        })
    }
}
