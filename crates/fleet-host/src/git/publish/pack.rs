//! A pack that housekeeping cannot remove before it is used.
//!
//! `git repack` notes at its start which packs have no `.keep`, and later removes these by name, whatever became of
//! them; `git prune --expire=now` removes `tmp_*` files that are being written. So `git index-pack` in the user's
//! repository would not do: it writes such files, and names the pack by its content, which an earlier attempt may have
//! left there without a `.keep`. Ours gets a random name, its `.keep` first and its `.idx`, which makes it a pack, last.
//! The `.pack` is there, empty, long before the `.idx`: `git gc` removes an `.idx` whose `.pack` it did not see when it
//! listed the folder.
//!
//! Must never remove a pack that was complete: a repack that saw the `.keep` may have relied on its objects.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Compression;
use crate::git::capture::ScratchFile;
use crate::git::command::Git;
use crate::git::error::GitError;
use crate::git::gitdir::is_absence;
use crate::git::loose;
use crate::git::oid::Oid;
use crate::git::random;
use crate::git::temporary::Temporary;
use crate::process::Identity;

/// The start of every `.keep` of ours. The process that wrote it follows.
const REASON: &str = "codefleet publish ";

/// The extension of a file that is not complete. No other program makes such files.
const PART: &str = "fleet-part";

/// A `.keep` of another program may be of any length.
const LONGEST_REASON: u64 = 4096;

/// So old that no process uses it, even where a process of another container looks dead to us.
pub(in crate::git) const ABANDONED_AFTER: Duration = Duration::from_hours(24);

/// Packing reads everything that is new.
const PACK_TIMEOUT: Duration = Duration::from_hours(1);

#[derive(Debug, Clone, Copy)]
pub(super) struct PackWanted<'a> {
    pub(super) repo: &'a Path,
    pub(super) vault: &'a Path,
    pub(super) commit: &'a Oid,
    /// What these commits reach is left out.
    pub(super) known: &'a [Oid],
    pub(super) compression: Compression,
}

/// A pack in the user's repository. Housekeeping leaves it alone until this is dropped.
#[derive(Debug)]
pub(super) struct Pack {
    /// Without an extension.
    path: PathBuf,
    is_complete: bool,
}

impl Pack {
    /// Copies all objects that the commit reaches and the known ones do not; `None` if there are none.
    pub(super) fn bring(wanted: &PackWanted<'_>) -> Result<Option<Self>, GitError> {
        let folder = wanted.repo.join("objects/pack");
        let mut pack = Self::reserve(&folder, wanted.commit)?;
        let scratch = Temporary::new(wanted.vault, "publish")?;
        let Some(source) = pack_objects(wanted, &scratch)? else { return Ok(None) };
        pack.fill(&source)?;
        // What killed processes left is no reason to fail.
        let _ = sweep_keeps(wanted.repo, ABANDONED_AFTER);
        Ok(Some(pack))
    }

    /// A name that no pack has or ever had.
    fn reserve(folder: &Path, like: &Oid) -> Result<Self, GitError> {
        let path = folder.join(format!("pack-{}", random::hex(like.as_str().len())?));
        let owner =
            serde_json::to_string(&Identity::current()).map_err(|error| GitError::Write(error.into()))?;
        fs::create_dir_all(folder).map_err(GitError::io(folder))?;
        let pack = Self { path, is_complete: false };
        pack.create(PART, format!("{REASON}{owner}\n").as_bytes())?;
        // A `.keep` without an owner would stay forever.
        let keep = pack.path.with_extension("keep");
        fs::rename(pack.path.with_extension(PART), &keep).map_err(GitError::io(&keep))?;
        pack.create("pack", b"")?;
        Ok(pack)
    }

    fn create(&self, extension: &str, content: &[u8]) -> Result<(), GitError> {
        let path = self.path.with_extension(extension);
        let made = OpenOptions::new().write(true).create_new(true).open(&path);
        made.and_then(|mut file| file.write_all(content)).map_err(GitError::io(&path))
    }

    /// Puts the files of `source` in place.
    fn fill(&mut self, source: &Path) -> Result<(), GitError> {
        let folder = self.path.parent().unwrap_or(&self.path);
        let folder_mode = fs::metadata(folder).map_err(GitError::io(folder))?.permissions().mode();
        for extension in ["pack", "idx"] {
            let (from, to) = (source.with_extension(extension), self.path.with_extension(extension));
            put(&from, &to, folder_mode).map_err(GitError::io(&to))?;
        }
        self.is_complete = true;
        Ok(())
    }
}

impl Drop for Pack {
    fn drop(&mut self) {
        let _ = if self.is_complete { remove_keep(&self.path) } else { discard(&self.path) };
    }
}

fn remove_keep(path: &Path) -> io::Result<()> {
    absent(fs::remove_file(path.with_extension("keep")))
}

/// Removes what did not become a pack. The `.keep` goes last, so that another process can continue this.
fn discard(path: &Path) -> io::Result<()> {
    for extension in [PART, "pack"] {
        absent(fs::remove_file(path.with_extension(extension)))?;
    }
    remove_keep(path)
}

fn absent(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if !is_absence(&error) => Err(error),
        _ => Ok(()),
    }
}

/// Moves a file, or copies it to another file system, with the permissions that files have in its new folder.
fn put(from: &Path, to: &Path, folder_mode: u32) -> io::Result<()> {
    const SET_GROUP: u32 = 0o2000;
    let permissions = Permissions::from_mode(folder_mode & 0o444 | 0o400);
    // A file that is moved would keep its group.
    if folder_mode & SET_GROUP == 0 {
        fs::set_permissions(from, permissions.clone())?;
        if fs::rename(from, to).is_ok() {
            return Ok(());
        }
    }
    let part = to.with_extension(PART);
    copy(from, &part, permissions)?;
    fs::rename(part, to)
}

fn copy(from: &Path, to: &Path, permissions: Permissions) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
    io::copy(&mut File::open(from)?, &mut file)?;
    file.set_permissions(permissions)?;
    file.sync_all()
}

/// Writes pack and index into a folder of ours. Their path without an extension, or `None` if there is nothing to pack.
fn pack_objects(wanted: &PackWanted<'_>, folder: &Temporary) -> Result<Option<PathBuf>, GitError> {
    let known = wanted.known.iter().map(|known| format!("^{known}"));
    let revisions: Vec<_> = known.chain([format!("{}^{{commit}}\n", wanted.commit)]).collect();
    let (_revisions, stdin) =
        ScratchFile::new(folder.path(), "revisions").with(revisions.join("\n").as_bytes())?;
    let mut git = Git::about(wanted.vault)
        .setting("pack.packSizeLimit=0")
        .setting("pack.writeReverseIndex=false")
        // What is packed already is copied as it is.
        .setting(match wanted.compression {
            Compression::Quick => "pack.compression=1",
            Compression::None => "pack.compression=0",
        })
        .args(["pack-objects", "--revs", "--quiet", "--non-empty", "--delta-base-offset"])
        .args(["--window=0", "--depth=0"])
        .patience(PACK_TIMEOUT);
    if is_partial(wanted.repo) {
        git = git.arg("--missing=allow-any");
    }
    let shallow = wanted.repo.join("shallow");
    if shallow.exists() {
        git = git.env("GIT_SHALLOW_FILE", shallow);
    }
    let base = folder.path().join("pack");
    let answer = git.arg(&base).stdin(stdin).bytes()?;
    let name = answer.trim_ascii();
    if name.is_empty() {
        return Ok(None);
    }
    let hash = crate::git::command::oid_of("pack-objects", name)?;
    Ok(Some(folder.path().join(format!("pack-{hash}"))))
}

/// Whether the repository is a partial clone: it may lack what its remote promised, and git gets that when it needs it.
fn is_partial(repo: &Path) -> bool {
    let Ok(entries) = fs::read_dir(repo.join("objects/pack")) else { return false };
    entries.flatten().any(|entry| entry.path().extension().is_some_and(|end| end == "promisor"))
}

/// Removes the `.keep` files that killed processes of ours left in the user's repository, and what did not become a
/// pack or a ref, if they are older than `age`. How many. What was packed stays, for `git gc` to judge.
pub fn sweep_keeps(repo: &Path, age: Duration) -> Result<usize, GitError> {
    let folder = repo.join("objects/pack");
    let entries = match fs::read_dir(&folder) {
        Err(error) if is_absence(&error) => return Ok(0),
        entries => entries.map_err(GitError::io(&folder))?,
    };
    let mut swept = loose::sweep_drafts(repo, age).map_err(GitError::io(repo))?;
    for entry in entries {
        let path = entry.map_err(GitError::io(&folder))?.path();
        if is_abandoned(&path, age) {
            let pack = path.with_extension("");
            let is_complete = path.with_extension("idx").exists();
            let done = if is_complete { remove_keep(&pack) } else { discard(&pack) };
            done.map_err(GitError::io(&path))?;
            swept += 1;
        }
    }
    Ok(swept)
}

/// Whether a file was left by a process of ours that has ended.
fn is_abandoned(path: &Path, age: Duration) -> bool {
    let is_left = match path.extension().and_then(OsStr::to_str) {
        Some("keep") => owner(path).is_some_and(|owner| !owner.is_alive()),
        // With a `.keep`, that decides.
        Some(PART) => !path.with_extension("keep").exists(),
        _ => false,
    };
    is_left && is_older(path, age)
}

fn is_older(path: &Path, age: Duration) -> bool {
    fs::symlink_metadata(path)
        .and_then(|found| found.modified())
        .is_ok_and(|at| at.elapsed().is_ok_and(|passed| passed >= age))
}

fn owner(keep: &Path) -> Option<Identity> {
    if !fs::symlink_metadata(keep).ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    File::open(keep).ok()?.take(LONGEST_REASON).read_to_string(&mut text).ok()?;
    serde_json::from_str(text.strip_prefix(REASON)?.trim_end()).ok()
}
