//! Where a repository inside of a work tree has its git directory.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::folder::{EntryKind, Folder, FolderEntry};
use super::{ForeignGitDir, Unreadable};

/// A pointer file holds one path.
const POINTER_LIMIT: u64 = 8192;
/// More worktrees than anyone uses.
const MAX_WORKTREES: usize = 100;
/// More repositories of submodules than this, or deeper ones, are not looked for.
const MAX_MODULES: usize = 500;
const DEEPEST_MODULE: usize = 16;

pub(super) fn of(work_tree: &Path) -> Result<ForeignGitDir, Unreadable> {
    let root = Folder::root(work_tree)?;
    match root.enter(".git")? {
        Some(own) => with_common(&root, own),
        None => Err(Unreadable::new(&work_tree.join(".git"), "it does not exist")),
    }
}

/// The git directory of a repository in the work tree.
pub(super) fn nested(root: &Path, folder: &Path) -> Result<ForeignGitDir, Unreadable> {
    let below = folder.strip_prefix(root).unwrap_or(folder);
    let root = Folder::root(root)?;
    let place = root.descend(below)?;
    let dot_git = place.path().join(".git");
    let own = match place.kind(".git")? {
        Some(EntryKind::Folder) => {
            place.enter(".git")?.ok_or_else(|| Unreadable::new(&dot_git, "it does not exist"))?
        }
        Some(EntryKind::File) => named_by_file(&root, &place)?,
        Some(EntryKind::Other) => return Err(Unreadable::new(&dot_git, "it is neither a file nor a folder")),
        None => return Err(Unreadable::new(&dot_git, "it does not exist")),
    };
    with_common(&root, own)
}

/// The worktrees of the git directory `common`, with their names.
pub(super) fn worktrees(common: &Folder) -> Result<Vec<(String, ForeignGitDir)>, Unreadable> {
    let mut found = Vec::new();
    for (name, own) in folders(common, "worktrees", MAX_WORKTREES)? {
        let common = Some(common.descend(Path::new(""))?);
        found.push((name.to_string_lossy().into_owned(), ForeignGitDir { own, common }));
    }
    Ok(found)
}

/// The git directories of submodules that are kept in the `.git` folder of a work tree, with their paths below that.
pub(super) fn modules(work_tree: &Path) -> Result<Vec<(PathBuf, ForeignGitDir)>, Unreadable> {
    let root = Folder::root(work_tree)?;
    let mut found = Vec::new();
    if root.kind(".git")? == Some(EntryKind::Folder)
        && let Some(dot_git) = root.enter(".git")?
    {
        modules_in(&dot_git, Path::new(""), &mut found)?;
        for (name, worktree) in folders(&dot_git, "worktrees", MAX_WORKTREES)? {
            modules_in(&worktree, &Path::new("worktrees").join(name), &mut found)?;
        }
    }
    Ok(found)
}

/// Adds those in the folder `modules` of a git directory.
fn modules_in(
    git_dir: &Folder,
    path: &Path,
    found: &mut Vec<(PathBuf, ForeignGitDir)>,
) -> Result<(), Unreadable> {
    let Some(folder) = git_dir.enter("modules")? else { return Ok(()) };
    let mut open = vec![(path.join("modules"), folder)];
    while let Some((path, folder)) = open.pop() {
        let too_many = path.components().count() > DEEPEST_MODULE || found.len() > MAX_MODULES;
        if too_many {
            return Err(Unreadable::new(folder.path(), "it has too many repositories of submodules"));
        }
        let is_git_dir = folder.kind("HEAD")? == Some(EntryKind::File)
            && folder.kind("objects")? == Some(EntryKind::Folder);
        if is_git_dir {
            open.extend(folder.enter("modules")?.map(|inner| (path.join("modules"), inner)));
            found.push((path, ForeignGitDir { own: folder, common: None }));
        } else {
            let inner = folders_of(&folder, MAX_MODULES)?.into_iter();
            open.extend(inner.map(|(name, inner)| (path.join(name), inner)));
        }
    }
    Ok(())
}

/// The folders in the folder `name`, if there is one.
fn folders(above: &Folder, name: &str, limit: usize) -> Result<Vec<(OsString, Folder)>, Unreadable> {
    above.enter(name)?.map_or(Ok(Vec::new()), |folder| folders_of(&folder, limit))
}

fn folders_of(folder: &Folder, limit: usize) -> Result<Vec<(OsString, Folder)>, Unreadable> {
    let mut found = Vec::new();
    for FolderEntry { name, .. } in
        folder.entries(limit)?.into_iter().filter(|entry| entry.kind == EntryKind::Folder)
    {
        found.extend(folder.enter(&name)?.map(|inner| (name, inner)));
    }
    Ok(found)
}

fn named_by_file(root: &Folder, place: &Folder) -> Result<Folder, Unreadable> {
    let content = place.read(".git", POINTER_LIMIT)?.unwrap_or_default();
    match content.strip_prefix(b"gitdir: ") {
        Some(target) => inside(root, place, target),
        None => Err(Unreadable::new(&place.path().join(".git"), "it does not name a git directory")),
    }
}

/// A linked worktree's git directory names the one that has the refs and objects.
fn with_common(root: &Folder, own: Folder) -> Result<ForeignGitDir, Unreadable> {
    let common = match own.read("commondir", POINTER_LIMIT)? {
        Some(target) => Some(inside(root, &own, &target)?),
        None => None,
    };
    Ok(ForeignGitDir { own, common })
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
