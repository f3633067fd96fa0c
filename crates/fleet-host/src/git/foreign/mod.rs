//! A repository that others write, read as data.
//!
//! Owns how the git directory of an agent is looked at: its `HEAD`, refs and logs are parsed here, and its objects are
//! taken into a repository of ours after they were checked. Everything in such a directory may be forged, at any moment.
//! So git must never run with it as its git directory, no link in it is followed, nothing in it is read without a
//! bound, and neither its configuration nor its alternates count.

mod borrowed;
mod folder;
mod locate;
mod logs;
mod objects;
mod refs;
mod take;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};

use self::folder::Folder;
use super::capture::ScratchFile;
use super::error::GitError;
use super::files::Head;
use super::oid::Oid;

pub(in crate::git) use self::objects::Staged;
pub(in crate::git) use self::refs::Refs;
pub(in crate::git) use self::take::{Take, TakeError, check, take};

/// An index of five million entries.
const INDEX_LIMIT: u64 = 1 << 30;

/// A larger list of shallow commits is not one.
const SHALLOW_LIMIT: u64 = 16 << 20;

/// Something in the git directory is not what git would have written, or may not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot read {}: {why}", .path.display())]
pub(in crate::git) struct Unreadable {
    pub(in crate::git) path: PathBuf,
    pub(in crate::git) why: String,
}

impl Unreadable {
    fn new(path: &Path, why: &str) -> Self {
        Self { path: path.to_owned(), why: why.to_owned() }
    }

    fn because(path: &Path, error: &io::Error) -> Self {
        Self::new(path, &error.to_string())
    }
}

#[derive(Debug, thiserror::Error)]
pub(in crate::git) enum ForeignError {
    /// The agent's repository is at fault.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// Our side failed.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// A git directory that an agent writes to.
///
/// It is held open: what is read later is the directory that was looked at first, whatever has its name by then.
#[derive(Debug)]
pub(in crate::git) struct ForeignGitDir {
    /// Where `HEAD` and the index are.
    own: Folder,
    /// Where refs and objects are, unless that is the same.
    common: Option<Folder>,
}

impl ForeignGitDir {
    /// The `.git` folder of a work tree. A file, a link or anything else of that name is not one.
    pub(in crate::git) fn of(work_tree: &Path) -> Result<Self, Unreadable> {
        locate::of(work_tree)
    }

    /// The repository at `folder`, a path relative to the work tree `root` or below it. Its `.git` is a folder, or a
    /// file that names a folder inside of `root`, as those of submodules and linked worktrees do.
    pub(in crate::git) fn nested(root: &Path, folder: &Path) -> Result<Self, Unreadable> {
        locate::nested(root, folder)
    }

    /// The worktrees that were made of it, with their names. Their files may be anywhere, and do not count.
    pub(in crate::git) fn worktrees(&self) -> Result<Vec<(String, Self)>, Unreadable> {
        locate::worktrees(self.common())
    }

    /// The repositories of submodules in the `.git` folder of a work tree, with their paths in it. They stay there when
    /// their files are removed.
    pub(in crate::git) fn modules(work_tree: &Path) -> Result<Vec<(PathBuf, Self)>, Unreadable> {
        locate::modules(work_tree)
    }

    pub(in crate::git) fn dir(&self) -> &Path {
        self.own.path()
    }

    /// Whether refs and objects are those of another repository, of which this is a linked worktree.
    pub(in crate::git) const fn is_linked(&self) -> bool {
        self.common.is_some()
    }

    /// The commits at which its history was cut off when it was cloned.
    pub(in crate::git) fn shallow(&self) -> Result<Vec<Oid>, Unreadable> {
        let content = self.common().read("shallow", SHALLOW_LIMIT)?.unwrap_or_default();
        let text = String::from_utf8_lossy(&content);
        Ok(text.lines().filter_map(|line| Oid::parse(line).ok()).collect())
    }

    /// What `HEAD` says: any ref, or a commit.
    pub(in crate::git) fn head(&self) -> Result<Head, Unreadable> {
        refs::head(&self.own, self.common())
    }

    /// All refs that name an object directly. Those that cannot be read are listed, and hide no others.
    pub(in crate::git) fn refs(&self) -> Result<Refs, Unreadable> {
        refs::all(self.common())
    }

    /// The commit that `HEAD` is at, if there is one.
    #[expect(clippy::unused_self, reason = "refs and head are those of this repository")]
    pub(in crate::git) fn commit(&self, refs: &Refs, head: &Head) -> Option<Oid> {
        match head {
            Head::Branch(name) => refs.named.get(name).cloned(),
            Head::Detached(commit) => Some(commit.clone()),
        }
    }

    /// All stashed changes, newest first: only the log of `refs/stash` names the older ones.
    pub(in crate::git) fn stashes(&self) -> Result<Vec<Oid>, Unreadable> {
        let mut all = logs::stashes(self.common())?;
        all.extend(logs::autostashes(&self.own)?);
        Ok(all)
    }

    /// The commits of a detached `HEAD` that were left by checking something else out, newest first.
    pub(in crate::git) fn left(&self) -> Result<Vec<Oid>, Unreadable> {
        logs::left(&self.own)
    }

    /// The commits that `HEAD` was at, newest first: a branch that was deleted or reset may be in no ref any more.
    pub(in crate::git) fn visited(&self) -> Result<Vec<Oid>, Unreadable> {
        logs::visited(&self.own)
    }

    /// A copy of its index, with its time: git compares that with the times of files. `None` if there is none.
    pub(in crate::git) fn copy_index(&self, to: &ScratchFile) -> Result<Option<()>, ForeignError> {
        let Some(theirs) = self.own.file("index")? else { return Ok(None) };
        objects::copy_bounded(theirs, to, INDEX_LIMIT, &self.own.path().join("index")).map(Some)
    }

    /// Its objects, without what it borrows from others, in a new folder inside of `into`: files that git can read as
    /// another object directory. The files may still be those of the agent, so their content proves nothing.
    pub(in crate::git) fn stage(&self, into: &Path) -> Result<Staged, ForeignError> {
        objects::stage(self.common(), into)
    }

    fn common(&self) -> &Folder {
        self.common.as_ref().unwrap_or(&self.own)
    }
}
