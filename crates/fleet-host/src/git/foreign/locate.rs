//! Where a repository inside of a work tree has its git directory.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::folder::{Folder, Kind};
use super::{Foreign, Unreadable};

/// A pointer file holds one path.
const POINTER_LIMIT: u64 = 8192;

/// The `.git` folder of the work tree itself.
pub(super) fn of(work_tree: &Path) -> Result<Foreign, Unreadable> {
    let root = Folder::root(work_tree)?;
    match root.enter(".git")? {
        Some(own) => with_common(&root, own),
        None => Err(Unreadable::new(&work_tree.join(".git"), "it does not exist")),
    }
}

/// The git directory of a repository in the work tree.
pub(super) fn nested(root: &Path, folder: &Path) -> Result<Foreign, Unreadable> {
    let below = folder.strip_prefix(root).unwrap_or(folder);
    let root = Folder::root(root)?;
    let place = root.descend(below)?;
    let dot_git = place.path().join(".git");
    let own = match place.kind(".git")? {
        Some(Kind::Folder) => {
            place.enter(".git")?.ok_or_else(|| Unreadable::new(&dot_git, "it does not exist"))?
        }
        Some(Kind::File) => named_by_file(&root, &place)?,
        Some(Kind::Other) => return Err(Unreadable::new(&dot_git, "it is neither a file nor a folder")),
        None => return Err(Unreadable::new(&dot_git, "it does not exist")),
    };
    with_common(&root, own)
}

fn named_by_file(root: &Folder, place: &Folder) -> Result<Folder, Unreadable> {
    let content = place.read(".git", POINTER_LIMIT)?.unwrap_or_default();
    match content.strip_prefix(b"gitdir: ") {
        Some(target) => inside(root, place, target),
        None => Err(Unreadable::new(&place.path().join(".git"), "it does not name a git directory")),
    }
}

/// A linked worktree's git directory names the one that has the refs and objects.
fn with_common(root: &Folder, own: Folder) -> Result<Foreign, Unreadable> {
    let common = match own.read("commondir", POINTER_LIMIT)? {
        Some(target) => Some(inside(root, &own, &target)?),
        None => None,
    };
    Ok(Foreign { own, common })
}

/// The folder that a pointer file in `place` names, if that is inside of `root`.
///
/// Links are resolved once, and the way that results is then walked without following any: one that is put there in
/// between leads nowhere.
fn inside(root: &Folder, place: &Folder, target: &[u8]) -> Result<Folder, Unreadable> {
    let end = target.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r')).map_or(0, |last| last + 1);
    let named = place.path().join(OsStr::from_bytes(&target[..end]));
    let resolve = |path: &Path| -> Result<PathBuf, Unreadable> {
        fs::canonicalize(path).map_err(|error| Unreadable::because(path, &error))
    };
    let (canonical_root, resolved) = (resolve(root.path())?, resolve(&named)?);
    match resolved.strip_prefix(&canonical_root) {
        Ok(below) => root.descend(below),
        Err(_) => Err(Unreadable::new(&named, "it is outside of the work tree")),
    }
}
