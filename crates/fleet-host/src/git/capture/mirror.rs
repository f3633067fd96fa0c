//! A repository of the agent's as git may see it: a git directory of ours, with our settings, that has the refs and
//! objects of the other and nothing else of it.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::index::{self, ScratchFile};
use crate::git::alternates;
use crate::git::checkout::Checkout;
use crate::git::command::Git;
use crate::git::error::GitError;
use crate::git::files::Head;
use crate::git::foreign::{ForeignError, ForeignGitDir, Refs, Staged, Unreadable};
use crate::git::oid::Oid;
use crate::git::temporary::Temporary;

/// A repository inside the work tree, read as data.
#[derive(Debug)]
pub(super) struct Opened {
    foreign: ForeignGitDir,
    head: Head,
    refs: Refs,
    shallow: Vec<Oid>,
}

impl Opened {
    /// The repository at `path` of the work tree.
    pub(super) fn at(outer: &Checkout, path: &[u8]) -> Result<Self, Unreadable> {
        let foreign = if path.is_empty() {
            ForeignGitDir::of(&outer.work_tree)?
        } else {
            ForeignGitDir::nested(&outer.work_tree, OsStr::from_bytes(path).as_ref())?
        };
        Self::of(foreign)
    }

    pub(super) fn of(foreign: ForeignGitDir) -> Result<Self, Unreadable> {
        let (head, refs, shallow) = (foreign.head()?, foreign.refs()?, foreign.shallow()?);
        Ok(Self { foreign, head, refs, shallow })
    }

    pub(super) fn dir(&self) -> &Path {
        self.foreign.dir()
    }

    /// The current commit, if there is one.
    pub(super) fn commit(&self) -> Option<Oid> {
        self.foreign.commit(&self.refs, &self.head)
    }

    /// Whether it has unreadable refs, and so perhaps commits that nothing keeps.
    pub(super) fn is_partly_read(&self) -> bool {
        !self.refs.bad.is_empty()
    }
}

/// A git directory of ours for an agent's repository. Removed when it is dropped.
#[derive(Debug)]
pub(super) struct Mirror {
    pub(super) checkout: Checkout,
    /// What its current commit has. It knows nothing about the files: the agent's own index could hide changes.
    pub(super) index: ScratchFile,
    has_commit: bool,
    is_linked: bool,
    _staged: Staged,
    _folder: Temporary,
}

impl Mirror {
    /// Makes it inside the git directory of the outer checkout.
    pub(super) fn of(opened: &Opened, outer: &Checkout, path: &[u8]) -> Result<Self, ForeignError> {
        let folder = Temporary::new(&outer.git_dir, "mirror")?;
        let staged = opened.foreign.stage(folder.path())?;
        for name in ["objects", "objects/info", "refs"] {
            folder.inner(name)?;
        }
        let borrowed = alternates::file(&[&outer.common_dir.join("objects"), staged.dir()]);
        for (name, content) in [
            ("HEAD", head_file(&opened.head).into_bytes()),
            ("config", config(opened).as_bytes().to_vec()),
            ("packed-refs", packed(&opened.refs).into_bytes()),
            ("objects/info/alternates", borrowed),
        ] {
            let file = folder.path().join(name);
            fs::write(&file, content).map_err(GitError::io(&file))?;
        }
        if !opened.shallow.is_empty() {
            let file = folder.path().join("shallow");
            let commits: Vec<_> = opened.shallow.iter().map(Oid::as_str).collect();
            fs::write(&file, commits.join("\n") + "\n").map_err(GitError::io(&file))?;
        }
        let git_dir = folder.path().to_owned();
        let place = outer.work_tree.join(OsStr::from_bytes(path));
        // One whose files are gone is only asked for its commits.
        let work_tree = if place.is_dir() { place } else { outer.work_tree.clone() };
        let checkout = Checkout { work_tree, git_dir: git_dir.clone(), common_dir: git_dir };
        Ok(Self {
            index: index::from_head(&checkout)?,
            checkout,
            has_commit: opened.commit().is_some(),
            is_linked: opened.foreign.is_linked(),
            _staged: staged,
            _folder: folder,
        })
    }

    pub(super) fn git(&self) -> Git {
        Git::within(&self.checkout).index(self.index.path())
    }

    /// Writes the commits of all refs and of `HEAD` that no remote has, stashes too. False if there are none.
    pub(super) fn pack_commits(&self, bundle: &ScratchFile) -> Result<bool, GitError> {
        let mut tips = Vec::new();
        if self.has_commit {
            tips.push("HEAD");
        }
        // The branches are those of the repository that this is a worktree of, and kept with that.
        tips.extend(if self.is_linked { ["--not", "--branches"] } else { ["--all", "--not"] });
        tips.push("--remotes");
        if self.is_linked && !self.has_commit {
            return Ok(false);
        }
        let git = || Git::about(&self.checkout.git_dir);
        if git().args(["rev-list", "--max-count=1"]).args(&tips).bytes()?.is_empty() {
            return Ok(false);
        }
        // One thread: the same commits are then the same bytes, and make no new snapshot.
        let git = git().setting("pack.threads=1");
        git.args(["bundle", "create", "--quiet"]).arg(bundle.path()).args(&tips).run()?;
        Ok(true)
    }
}

fn head_file(head: &Head) -> String {
    match head {
        Head::Branch(name) => format!("ref: {name}\n"),
        Head::Detached(commit) => format!("{commit}\n"),
    }
}

/// The only thing to say is how long the names of objects are.
fn config(opened: &Opened) -> &'static str {
    let is_long = |oid: &Oid| oid.as_str().len() == 64;
    if opened.commit().as_ref().or(opened.refs.named.values().next()).is_some_and(is_long) {
        "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectFormat = sha256\n"
    } else {
        "[core]\n\trepositoryformatversion = 0\n"
    }
}

fn packed(refs: &Refs) -> String {
    let mut content = "# pack-refs with: sorted\n".to_owned();
    // A replaced object would hide commits.
    for (name, object) in refs.named.iter().filter(|(name, _)| !name.starts_with("refs/replace/")) {
        // Writing to a string cannot fail.
        let _ = writeln!(content, "{object} {name}");
    }
    content
}
