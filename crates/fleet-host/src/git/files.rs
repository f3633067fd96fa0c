//! What a repository says in plain files, read without a git.
//!
//! Owns the quick answers: where `HEAD` and a branch are, whether a branch is checked out, whether git would work in a
//! directory. A process costs more than everything else about such a question, and every run asks several. Only what
//! `gitrepository-layout(5)` documents is read, and whatever is not as plain as it mostly is (a table of refs, a
//! symbolic ref, another owner) is left to git: `None` always means "ask git". Must never write.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::gitdir::is_absence;
use super::oid::Oid;
use crate::plain;

/// A file of one ref is one line.
const LINE: u64 = 4096;
/// A larger file of packed refs is searched faster by git, which need not read all of it.
const PACKED: u64 = 4 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Head {
    /// The full name of a branch, which need not exist.
    Branch(String),
    Detached(Oid),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tip {
    At(Oid),
    /// There is no such branch, or it has no commit yet.
    Nowhere,
}

impl Tip {
    pub(super) fn commit(self) -> Option<Oid> {
        match self {
            Self::At(commit) => Some(commit),
            Self::Nowhere => None,
        }
    }
}

/// What the `HEAD` of a git directory says.
pub(super) fn head(git_dir: &Path) -> Option<Head> {
    plain_refs(git_dir)?;
    head_at(&git_dir.join("HEAD"))
}

pub(super) fn head_commit(git_dir: &Path) -> Option<Tip> {
    match head(git_dir)? {
        Head::Detached(commit) => Some(Tip::At(commit)),
        Head::Branch(name) => commit_of(git_dir, &name),
    }
}

pub(super) fn commit_of(git_dir: &Path, name: &str) -> Option<Tip> {
    let common_dir = plain_refs(git_dir)?;
    // Others may belong to one worktree, or have another meaning.
    if !is_shared(name) {
        return None;
    }
    match fs::metadata(common_dir.join(name)) {
        Ok(found) if found.is_file() => parse_oid(&read_line(&common_dir.join(name))?).map(Tip::At),
        Ok(found) if found.is_dir() => packed(&common_dir, name),
        Err(error) if is_absence(&error) => packed(&common_dir, name),
        _ => None,
    }
}

/// Whether a ref, by its full name, is a branch or a commit that we hold: one and the same for all worktrees.
pub(super) fn is_shared(name: &str) -> bool {
    const SHARED: [&str; 4] =
        ["refs/heads/", "refs/fleet/held/", "refs/fleet/copied/", "refs/fleet/snapshots/"];
    SHARED.iter().any(|folder| name.starts_with(folder))
}

/// Whether a branch of this full name can certainly be made: there is none, and no ref blocks the name.
pub(super) fn is_name_free(git_dir: &Path, name: &str) -> bool {
    let Some(common_dir) = plain_refs(git_dir) else { return false };
    let is_absent = |error: io::Error| error.kind() == io::ErrorKind::NotFound;
    fs::symlink_metadata(common_dir.join(name)).is_err_and(is_absent)
        && packed_name(&common_dir, name) == Some(PackedName::Free)
}

/// A path, as git writes it.
pub(super) fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

/// Whether no worktree of the repository has this branch, by its full name, checked out. False if it may be.
pub(super) fn is_checked_out_nowhere(git_dir: &Path, name: &str) -> bool {
    let is_elsewhere = |file: &Path| match head_at(file) {
        Some(Head::Branch(other)) => other != name,
        Some(Head::Detached(_)) => true,
        None => false,
    };
    let Some(common_dir) = plain_refs(git_dir) else { return false };
    let worktrees = match fs::read_dir(common_dir.join("worktrees")) {
        Ok(entries) => entries.map(|entry| entry.map(|entry| entry.path().join("HEAD"))).collect(),
        Err(error) if is_absence(&error) => Ok(Vec::new()),
        Err(error) => Err(error),
    };
    let is_free = |heads: Vec<PathBuf>| heads.iter().all(|head| is_elsewhere(head));
    is_elsewhere(&common_dir.join("HEAD")) && worktrees.is_ok_and(is_free)
}

/// Whether git would certainly work in this directory: the root of a checkout that belongs to us, as its repository
/// does. False if only git can tell, by `safe.directory` and the like.
pub(super) fn is_ours(directory: &Path) -> bool {
    let me = rustix::process::geteuid().as_raw();
    let is_my_folder =
        |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| found.is_dir() && found.uid() == me);
    let git_dir = directory.join(".git");
    is_my_folder(directory)
        && is_my_folder(&git_dir)
        && git_dir.join("objects").is_dir()
        && git_dir.join("refs").is_dir()
        && head_at(&git_dir.join("HEAD")).is_some()
}

/// The common directory of a repository that keeps its refs as files.
pub(super) fn plain_refs(git_dir: &Path) -> Option<PathBuf> {
    let common_dir = match read_line(&git_dir.join("commondir")) {
        Some(path) => git_dir.join(path),
        None if git_dir.join("commondir").exists() => return None,
        None => git_dir.to_owned(),
    };
    let is_plain = !common_dir.join("reftable").exists() && common_dir.join("refs").is_dir();
    is_plain.then_some(common_dir)
}

fn head_at(file: &Path) -> Option<Head> {
    let line = read_line(file)?;
    match line.strip_prefix("ref:") {
        Some(name) => {
            let name = name.trim_start();
            name.starts_with("refs/heads/").then(|| Head::Branch(name.to_owned()))
        }
        None => parse_oid(&line).map(Head::Detached),
    }
}

/// The line of a file that has one. A link is not followed: old symbolic refs were links.
fn read_line(file: &Path) -> Option<String> {
    if !fs::symlink_metadata(file).ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    plain::open(file).ok()?.take(LINE).read_to_string(&mut text).ok()?;
    let line = text.strip_suffix('\n')?;
    (!line.is_empty() && !line.contains('\n')).then(|| line.to_owned())
}

fn parse_oid(line: &str) -> Option<Oid> {
    Oid::parse(line.trim_end()).ok()
}

/// Whether the name of a ref is to be had, as far as packed refs are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PackedName {
    /// There is none of this name, and none of a name that would be a folder above or below it.
    Free,
    /// There is one with a name that excludes this one.
    InTheWay,
    /// There is one with this name.
    Taken,
}

/// The packed refs with this name and around it.
pub(super) fn packed_name(common_dir: &Path, name: &str) -> Option<PackedName> {
    let content = packed_refs(common_dir)?;
    let names =
        content.split(|byte| *byte == b'\n').filter_map(|line| line.split(|byte| *byte == b' ').nth(1));
    let is_below = |longer: &[u8], shorter: &[u8]| {
        longer.strip_prefix(shorter).is_some_and(|rest| rest.first() == Some(&b'/'))
    };
    let (wanted, mut found) = (name.as_bytes(), PackedName::Free);
    for other in names {
        if other == wanted {
            return Some(PackedName::Taken);
        }
        if is_below(other, wanted) || is_below(wanted, other) {
            found = PackedName::InTheWay;
        }
    }
    Some(found)
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RefValue {
    Object(Oid),
    Ref(String),
}

/// What the file of a ref says; `None` if it is not there or damaged.
pub(super) fn value_at(file: &Path) -> Option<RefValue> {
    let line = read_line(file)?;
    match line.strip_prefix("ref:") {
        Some(name) => Some(RefValue::Ref(name.trim().to_owned())),
        None => parse_oid(&line).map(RefValue::Object),
    }
}

/// All packed refs, by name.
pub(super) fn all_packed(common_dir: &Path) -> Option<Vec<(String, Oid)>> {
    let content = packed_refs(common_dir)?;
    let entry = |line: &[u8]| {
        let (oid, name) = std::str::from_utf8(line).ok()?.split_once(' ')?;
        Some((name.to_owned(), parse_oid(oid)?))
    };
    Some(content.split(|byte| *byte == b'\n').filter_map(entry).collect())
}

fn packed_refs(common_dir: &Path) -> Option<Vec<u8>> {
    let file = match plain::open(&common_dir.join("packed-refs")) {
        Err(error) if is_absence(&error) => return Some(Vec::new()),
        file => file.ok()?,
    };
    if file.metadata().ok()?.len() > PACKED {
        return None;
    }
    let mut content = Vec::new();
    file.take(PACKED).read_to_end(&mut content).ok()?;
    Some(content)
}

/// The commit of a ref without its own file.
fn packed(common_dir: &Path, name: &str) -> Option<Tip> {
    let content = packed_refs(common_dir)?;
    let wanted = [b" ", name.as_bytes()].concat();
    let line = content.split(|byte| *byte == b'\n').find(|line| line.ends_with(&wanted));
    let Some(line) = line else { return Some(Tip::Nowhere) };
    // Anything but an id before the name is not what we take it for.
    parse_oid(std::str::from_utf8(&line[..line.len() - wanted.len()]).ok()?).map(Tip::At)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "1111111111111111111111111111111111111111";
    const TWO: &str = "2222222222222222222222222222222222222222";

    fn repository() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("refs/heads/folder")).unwrap();
        fs::write(dir.path().join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(dir.path().join("refs/heads/main"), format!("{ONE}\n")).unwrap();
        let packed =
            format!("# pack-refs with: peeled\n{TWO} refs/heads/folder\n{TWO} refs/heads/main\n^{ONE}\n");
        fs::write(dir.path().join("packed-refs"), packed).unwrap();
        dir
    }

    fn at(text: &str) -> Tip {
        Tip::At(Oid::parse(text).unwrap())
    }

    #[test]
    fn a_file_comes_before_what_is_packed() {
        let dir = repository();
        assert_eq!(head_commit(dir.path()), Some(at(ONE)));
        assert_eq!(commit_of(dir.path(), "refs/heads/main"), Some(at(ONE)));
        assert_eq!(commit_of(dir.path(), "refs/heads/folder"), Some(at(TWO)), "an empty folder of that name");
        assert_eq!(commit_of(dir.path(), "refs/heads/ain"), Some(Tip::Nowhere));
        assert_eq!(commit_of(dir.path(), "refs/heads/main/below"), Some(Tip::Nowhere));
        fs::write(dir.path().join("HEAD"), "ref: refs/heads/unborn\n").unwrap();
        assert_eq!(head_commit(dir.path()), Some(Tip::Nowhere));
    }

    #[test]
    fn what_is_not_plain_is_left_to_git() {
        let dir = repository();
        let write = |text: &str| fs::write(dir.path().join("refs/heads/main"), text).unwrap();
        for odd in ["ref: refs/heads/other\n", "", "1111\n", ONE, &format!("{ONE}\n{TWO}\n")] {
            write(odd);
            assert_eq!(commit_of(dir.path(), "refs/heads/main"), None, "{odd:?}");
        }
        assert_eq!(commit_of(dir.path(), "refs/tags/a"), None);
        fs::write(dir.path().join("HEAD"), "ref: refs/bisect/bad\n").unwrap();
        assert_eq!(head(dir.path()), None);
        fs::create_dir(dir.path().join("reftable")).unwrap();
        assert_eq!(commit_of(dir.path(), "refs/heads/folder"), None);
        assert!(!is_checked_out_nowhere(dir.path(), "refs/heads/folder"));
    }

    #[test]
    fn a_branch_is_checked_out_where_a_head_names_it() {
        let dir = repository();
        let free = |name: &str| is_checked_out_nowhere(dir.path(), name);
        assert!(free("refs/heads/other") && !free("refs/heads/main"));
        let worktree = dir.path().join("worktrees/w1");
        fs::create_dir_all(&worktree).unwrap();
        assert!(!free("refs/heads/other"), "one that cannot be read may have it");
        fs::write(worktree.join("HEAD"), format!("{ONE}\n")).unwrap();
        assert!(free("refs/heads/other"));
        fs::write(worktree.join("HEAD"), "ref: refs/heads/other\n").unwrap();
        assert!(!free("refs/heads/other"));
    }

    #[test]
    fn only_a_checkout_of_our_own_is_certainly_ours() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!is_ours(dir.path()));
        fs::rename(repository().keep(), dir.path().join(".git")).unwrap();
        assert!(!is_ours(dir.path()), "there is no folder of objects");
        fs::create_dir(dir.path().join(".git/objects")).unwrap();
        assert!(is_ours(dir.path()));
        assert!(!is_ours(&dir.path().join(".git")), "a bare one is for git to judge");
    }
}
