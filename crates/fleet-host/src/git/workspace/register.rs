//! Making a worktree known to its repository, and unknown again.
//!
//! Written by hand instead of by `git worktree add`: that fills a folder which every other git of the repository is
//! reading at the same time, and a `git checkout` of an agent next door then fails with "failed to read commondir".
//! Here the folder is complete before it gets its name, and goes in one step as well. The layout is documented in
//! `gitrepository-layout(5)`.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::trash::rename_new;
use super::{Area, WorkspaceError};
use crate::git::capture::Scratch;
use crate::git::checkout::Checkout;
use crate::git::command::Git;
use crate::git::commit::remove;
use crate::git::error::GitError;
use crate::git::oid::Oid;

/// Makes an empty worktree at `path`, with `HEAD` detached at `head`.
pub(super) fn register(area: &Area, path: &Path, head: &Oid) -> Result<Checkout, WorkspaceError> {
    let common_dir = fs::canonicalize(&area.repo).map_err(WorkspaceError::io(&area.repo))?;
    if common_dir.join("reftable").is_dir() {
        // There, `HEAD` is a row of a table that only git can write.
        let git =
            Git::about(&common_dir).args(["worktree", "add", "--quiet", "--no-checkout", "--detach", "--"]);
        git.arg(path).arg(head.as_str()).run()?;
        return Ok(Checkout::at(path)?);
    }
    fs::create_dir(path).map_err(WorkspaceError::io(path))?;
    let work_tree = fs::canonicalize(path).map_err(WorkspaceError::io(path))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let git_dir = publish(&common_dir, &name, &work_tree, head.as_str())?;
    Ok(Checkout { work_tree: path.to_owned(), git_dir, common_dir })
}

/// Puts the git directory of a worktree into its place, under the name or one like it.
fn publish(common_dir: &Path, name: &str, work_tree: &Path, head: &str) -> Result<PathBuf, GitError> {
    let folder = common_dir.join("worktrees");
    fs::create_dir_all(&folder).map_err(GitError::io(&folder))?;
    for number in 0..10_000 {
        let git_dir = folder.join(if number == 0 { name.to_owned() } else { format!("{name}-{number}") });
        if fs::symlink_metadata(&git_dir).is_ok() {
            continue;
        }
        write_line(&work_tree.join(".git"), &[b"gitdir: ", git_dir.as_os_str().as_bytes()].concat())?;
        match build(common_dir, &git_dir, work_tree, head) {
            Ok(()) => return Ok(git_dir),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(GitError::io(&git_dir)(error)),
        }
    }
    Err(GitError::Refused(format!("there is no free name in {}", folder.display())))
}

/// Builds the git directory of a worktree aside and gives it its name.
pub(super) fn build(common_dir: &Path, git_dir: &Path, work_tree: &Path, head: &str) -> io::Result<()> {
    let aside = Scratch::new(common_dir, "worktree");
    let place = aside.path();
    let built = (|| {
        fs::create_dir(place)?;
        fs::write(place.join("HEAD"), format!("{head}\n"))?;
        fs::write(place.join("commondir"), "../..\n")?;
        let dot_git = work_tree.join(".git");
        fs::write(place.join("gitdir"), [dot_git.as_os_str().as_bytes(), b"\n"].concat())?;
        rename_new(place, git_dir)
    })();
    if built.is_err() {
        let _ = fs::remove_dir_all(place);
    }
    built
}

/// Writes a file of one line, unless it is there already.
pub(super) fn write_line(file: &Path, line: &[u8]) -> Result<(), GitError> {
    let content = [line, b"\n"].concat();
    if fs::read(file).is_ok_and(|there| there == content) {
        return Ok(());
    }
    // A link in this place could lead the write anywhere.
    if fs::symlink_metadata(file).is_ok_and(|there| there.is_symlink()) {
        fs::remove_file(file).map_err(GitError::io(file))?;
    }
    fs::write(file, content).map_err(GitError::io(file))
}

/// Takes the git directory of a worktree away from its repository, in one step, and then out of the way.
pub(super) fn unregister(area: &Area, git_dir: &Path) -> Result<(), WorkspaceError> {
    let aside = Scratch::new(&area.repo, "gone");
    match fs::rename(git_dir, aside.path()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        moved => moved.map_err(WorkspaceError::io(git_dir))?,
    }
    // It may hold the repositories of submodules, too much to be deleted here. To another disk it cannot be moved.
    if area.move_aside(aside.path()).is_err() {
        remove(aside.path()).map_err(WorkspaceError::io(aside.path()))?;
    }
    Ok(())
}
