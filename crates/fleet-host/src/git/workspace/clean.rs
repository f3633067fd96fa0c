//! Bringing a worktree back to a state that is known, and proving it.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::register::{self, write_line};
use super::slot::Held;
use super::{Area, Keep, WorkspaceError};
use crate::git::checkout::Checkout;
use crate::git::command::Git;
use crate::git::commit::remove;
use crate::git::error::GitError;
use crate::git::gitdir::is_absence;

/// A checkout of a large project from a slow disk, with filters that ask a server.
pub(super) const LONG: Duration = Duration::from_hours(2);

/// What the git directory of a clean worktree has. Everything else in it is of a run (merges, rebases, bisections,
/// settings, sparse patterns, reflogs, locks) or a leftover of ours, so this list need not know their names.
const KEPT: [&str; 7] = ["HEAD", "index", "gitdir", "commondir", "modules", "refs", "reftable"];

/// The checkout of a slot whose connection with the repository is in order in both directions; `None` if not.
pub(super) fn connected(area: &Area, path: &Path) -> Option<Checkout> {
    if !stands(path) {
        return None;
    }
    let checkout = Checkout::at(path).ok()?;
    let common = fs::canonicalize(&area.repo).ok()?;
    let belongs =
        checkout.common_dir == common && checkout.git_dir.parent() == Some(&common.join("worktrees"));
    let back = read_line(&checkout.git_dir.join("gitdir"))?;
    (belongs && is_same(&back, &path.join(".git"))).then_some(checkout)
}

/// The git directories of the repository that say that they belong to the worktree at `path`.
pub(super) fn registered(area: &Area, path: &Path) -> Result<Vec<PathBuf>, WorkspaceError> {
    let folder = area.repo.join("worktrees");
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if is_absence(&error) => return Ok(Vec::new()),
        Err(error) => return Err(WorkspaceError::io(&folder)(error)),
    };
    let dot_git = path.join(".git");
    let canonical = area.dir.canonicalize().ok().zip(path.file_name());
    let canonical = canonical.map(|(dir, name)| dir.join(name).join(".git"));
    let mut found = Vec::new();
    for entry in entries {
        let git_dir = entry.map_err(WorkspaceError::io(&folder))?.path();
        let says = read_line(&git_dir.join("gitdir"));
        if says.is_some_and(|says| says == dot_git || Some(&says) == canonical.as_ref()) {
            found.push(git_dir);
        }
    }
    Ok(found)
}

/// The path in a file of one line.
fn read_line(file: &Path) -> Option<PathBuf> {
    let content = fs::read(file).ok()?;
    let line = content.split(|byte| *byte == b'\n').next().filter(|line| !line.is_empty())?;
    Some(PathBuf::from(OsStr::from_bytes(line)))
}

/// Removes everything from the git directory of a worktree that does not belong to a clean one.
pub(super) fn purge(checkout: &Checkout) -> Result<(), WorkspaceError> {
    let folder = &checkout.git_dir;
    let has_reftable = checkout.common_dir.join("reftable").is_dir();
    for entry in fs::read_dir(folder).map_err(WorkspaceError::io(folder))? {
        let entry = entry.map_err(WorkspaceError::io(folder))?;
        // With refs as files, those here are a bisection's and the like; otherwise it is a stub that git wants.
        let is_kept = |name: &&str| entry.file_name() == **name && (has_reftable || **name != *"refs");
        if !KEPT.iter().any(is_kept) {
            remove(&entry.path()).map_err(WorkspaceError::io(&entry.path()))?;
        }
    }
    Ok(())
}

/// Makes `HEAD` say something else, as git does it: whoever has made the lock may put it in the place of the file. Only
/// where refs are files.
pub(super) fn lead_head(checkout: &Checkout, line: &str) -> Result<(), WorkspaceError> {
    let head = checkout.git_dir.join("HEAD");
    let lock = head.with_extension("lock");
    let led = (|| {
        let mut file = OpenOptions::new().write(true).create_new(true).open(&lock)?;
        file.write_all(format!("{line}\n").as_bytes())?;
        fs::rename(&lock, &head)
    })();
    led.map_err(WorkspaceError::io(&head))
}

/// Whether nothing is in the worktree that is not in its commit.
pub(super) fn is_clean(checkout: &Checkout, keep: Keep) -> Result<bool, GitError> {
    let ignored = match keep {
        Keep::Nothing => "--ignored=traditional",
        Keep::Ignored => "--ignored=no",
    };
    let mut clean = true;
    let asked = Git::within(checkout)
        .args(["status", "--porcelain=v2", "-z", "--untracked-files=normal", "--ignore-submodules=none"])
        .arg(ignored)
        .feed(&mut |piece| {
            clean &= piece.is_empty();
            Ok(())
        });
    match asked {
        Ok(()) => Ok(clean),
        Err(GitError::Failed { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Makes a worktree as clean as git can, with `HEAD` detached. False if something stays or cannot be told.
pub(super) fn scrub(held: &Held, checkout: &Checkout, keep: Keep) -> Result<bool, WorkspaceError> {
    purge(checkout)?;
    let succeeds = |args: &[&str]| -> Result<bool, WorkspaceError> {
        let git = Git::within(checkout).args(args).stdin(held.shared_lock()?).patience(LONG);
        Ok(git.answer()?.code == Some(0))
    };
    if checkout.git_dir.join("modules").exists() {
        let git = Git::standing_in(&checkout.work_tree).stdin(held.shared_lock()?).patience(LONG);
        if git.args(["submodule", "--quiet", "deinit", "--force", "--all"]).answer()?.code != Some(0) {
            return Ok(false);
        }
    }
    let clean = match keep {
        Keep::Nothing => "-ffdxq",
        Keep::Ignored => "-ffdq",
    };
    if has_flags(checkout)? {
        let index = checkout.git_dir.join("index");
        fs::remove_file(&index).map_err(WorkspaceError::io(&index))?;
    }
    let done = succeeds(&["checkout", "--quiet", "--force", "--detach"])? && succeeds(&["clean", clean])?;
    Ok(done && is_clean(checkout, keep)?)
}

/// Whether the index tells git not to look at some files: what is in them would then pass as clean.
pub(in crate::git) fn has_flags(checkout: &Checkout) -> Result<bool, GitError> {
    let mut flags = false;
    let asked = Git::within(checkout).args(["ls-files", "-z", "-v"]).records(&mut |record| {
        flags |= record.first() != Some(&b'H') && record.first() != Some(&b'M');
        Ok(())
    });
    match asked {
        Ok(()) => Ok(flags),
        // A damaged index, which the next step will not like either.
        Err(GitError::Failed { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Puts the connection between a worktree and its repository right, in both directions.
///
/// Only what is missing or wrong is written. A `.git` that has become a folder, a repository of the agent's own, is
/// left alone: commands name both sides and do not need it.
pub(super) fn mend(checkout: &Checkout, branch: &str) -> Result<(), GitError> {
    if !stands(&checkout.work_tree) {
        let why = "the folder is gone, or something else is in its place".to_owned();
        return Err(GitError::NotACheckout { path: checkout.work_tree.clone(), why });
    }
    let git_dir = &checkout.git_dir;
    let head = format!("ref: refs/heads/{branch}");
    if !git_dir.exists() {
        let folder = checkout.common_dir.join("worktrees");
        fs::create_dir_all(&folder).map_err(GitError::io(&folder))?;
        let built = register::build(&checkout.common_dir, git_dir, &checkout.work_tree, &head);
        built.map_err(GitError::io(git_dir))?;
    }
    let dot_git = checkout.work_tree.join(".git");
    if !fs::symlink_metadata(&dot_git).is_ok_and(|metadata| metadata.is_dir()) {
        write_line(&dot_git, &[b"gitdir: ", git_dir.as_os_str().as_bytes()].concat())?;
    }
    let back = git_dir.join("gitdir");
    if read_line(&back).is_none_or(|back| !is_same(&back, &dot_git)) {
        write_line(&back, dot_git.as_os_str().as_bytes())?;
    }
    write_line(&git_dir.join("commondir"), b"../..")?;
    let file = git_dir.join("HEAD");
    if fs::metadata(&file).is_ok_and(|metadata| metadata.len() > 0) {
        return Ok(());
    }
    write_line(&file, head.as_bytes())
}

/// Whether the folder of a worktree is a folder, and not a link that an agent put in its place, or in that of the
/// folders above it: git would follow it, and clean whatever it finds there.
pub(in crate::git) fn stands(path: &Path) -> bool {
    let is_folder = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
    path.ancestors().take(LEVELS).all(is_folder)
}

/// The worktree, and the folder of the project's. That of all projects may be a link of the user's, to a larger disk.
const LEVELS: usize = 2;

/// Whether two names of a `.git` mean the same one, which need not exist.
fn is_same(one: &Path, other: &Path) -> bool {
    let canonical = |path: &Path| fs::canonicalize(path.parent()?).ok();
    one == other || canonical(one).is_some_and(|one| canonical(other) == Some(one))
}
