//! What git is kept away from while it lists a work tree.
//!
//! Folders with a `.git`, or with a `.gitignore` that git cannot read without harm, are excluded from its listing by
//! name: git does not look into what is excluded. What is in them is listed by other means (`nested.rs`, and here).
//! Entries of the index that would lead git there are taken out before it compares files with them.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

use rustix::fs::FileType;

use super::add;
use super::index::ScratchFile;
use super::walk::{self, Enter, Survey, WalkItem, folders_above, is_dot_git, joined, outermost};
use crate::git::checkout::Checkout;
use crate::git::command::Git;
use crate::git::error::GitError;
use crate::git::oid::Oid;

/// How long the excluding arguments of one command may be in all: half of what the smallest system allows.
const ARGUMENTS: usize = 96 << 10;

/// How many folders are left out because of their size, at most: each is an argument.
const MAX_LARGE: usize = 100;

/// What git is kept away from, and what has to be listed in its place. Paths are relative to the root of the checkout.
#[derive(Debug, Clone, Default)]
pub(super) struct Guard {
    /// Folders that git must not enter.
    hidden: Vec<Vec<u8>>,
    /// The outermost repositories that are not ignored.
    pub(super) repositories: Vec<Vec<u8>>,
    /// Folders whose files are all captured, because it is unknown which are ignored.
    pub(super) plain: Vec<Vec<u8>>,
    /// Folders that cannot be listed and are not ignored.
    pub(super) closed: Vec<Vec<u8>>,
    /// New folders that are left out because of their size.
    pub(super) large: Vec<Vec<u8>>,
}

impl Guard {
    /// Decides by what was found in the work tree of a checkout.
    pub(super) fn of(checkout: &Checkout, survey: &Survey) -> Result<Self, GitError> {
        if survey.is_plain() {
            return Ok(Self::default());
        }
        let repositories = outermost(&survey.repositories);
        let inside: HashSet<&[u8]> = repositories.iter().copied().collect();
        // What is inside of a repository is for that to judge.
        let own = |path: &&Vec<u8>| !folders_above(path).any(|above| inside.contains(above));
        let bad = outermost(survey.bad_ignore.iter().filter(own));
        let closed: Vec<&[u8]> = survey.closed.iter().filter(own).map(Vec::as_slice).collect();
        let asked = [&repositories[..], &closed, &bad].concat();
        let ignored = ignored(checkout, &asked, &bad)?;
        let kept = |paths: &[&[u8]]| {
            let all = paths.iter().filter(|path| !ignored.contains(**path));
            all.map(|path| path.to_vec()).collect::<Vec<_>>()
        };
        let mut guard = Self {
            hidden: Vec::new(),
            repositories: kept(&repositories),
            plain: kept(&bad),
            closed: kept(&closed),
            large: Vec::new(),
        };
        guard.hide();
        Ok(guard)
    }

    /// Chooses the folders to hide. More than fit on a command line are hidden with their surroundings, which are then
    /// listed without regard to what is ignored: too much is kept, and never too little.
    fn hide(&mut self) {
        let hidden = |guard: &Self| {
            outermost(guard.repositories.iter().chain(&guard.plain))
                .iter()
                .map(|path| path.to_vec())
                .collect()
        };
        self.hidden = hidden(self);
        if self.length() > ARGUMENTS {
            let top = |path: &Vec<u8>| path.split(|byte| *byte == b'/').next().unwrap_or_default().to_vec();
            self.plain.extend(self.hidden.iter().map(top).collect::<HashSet<_>>());
            self.hidden = hidden(self);
        }
        if self.length() > ARGUMENTS {
            self.plain = vec![Vec::new()];
            self.hidden = hidden(self);
        }
        self.plain = outermost(&self.plain).iter().map(|path| path.to_vec()).collect();
    }

    /// The same, without the folders that have most of the new files: at most this many files remain, as far as that
    /// depends on folders.
    pub(super) fn without_largest(
        &self,
        checkout: &Checkout,
        index: &ScratchFile,
        most: u64,
    ) -> Result<Self, GitError> {
        let mut folders = FolderCounts::default();
        let git = Git::within(checkout).index(index.path()).args(["ls-files", "-z"]).args(self.others());
        git.records(&mut |path| {
            folders.count(path);
            Ok(())
        })?;
        let large = folders.largest(most);
        let hidden = self.hidden.iter().chain(&large).cloned().collect();
        Ok(Self { hidden, large, ..self.clone() })
    }

    fn length(&self) -> usize {
        self.hidden.iter().map(|path| path.len() + 8).sum()
    }

    /// The arguments with which `git ls-files` also lists what is not tracked. Patterns are on the command line, because
    /// files of patterns yield to any `.gitignore`. Nothing if the root is hidden: git reads its `.gitignore` in any
    /// case.
    pub(super) fn others(&self) -> Vec<OsString> {
        if self.hidden.iter().any(Vec::is_empty) {
            return Vec::new();
        }
        let patterns = self.hidden.iter().map(|path| excluding(path));
        ["-o", "--exclude-standard"].into_iter().map(OsString::from).chain(patterns).collect()
    }

    /// The paths of everything in the plain folders that is neither a folder nor inside of a repository.
    pub(super) fn list_plain(
        &self,
        checkout: &Checkout,
        each: &mut dyn FnMut(&[u8]) -> Result<(), GitError>,
    ) -> Result<(), GitError> {
        self.plain.iter().try_for_each(|folder| list_files(checkout, folder, &self.repositories, each))
    }
}

/// How many new files there are in each folder, those in the folders in it included.
#[derive(Debug, Default)]
struct FolderCounts(HashMap<Vec<u8>, u64>);

impl FolderCounts {
    fn count(&mut self, path: &[u8]) {
        for folder in folders_above(path).skip(1) {
            match self.0.get_mut(folder) {
                Some(files) => *files += 1,
                None => drop(self.0.insert(folder.to_vec(), 1)),
            }
        }
    }

    /// The folders to leave out so that at most this many files remain.
    fn largest(mut self, most: u64) -> Vec<Vec<u8>> {
        let mut largest = Vec::new();
        while self.total() > most && largest.len() < MAX_LARGE {
            let Some(folder) = self.main() else { break };
            self.remove(&folder);
            largest.push(folder);
        }
        largest
    }

    fn total(&self) -> u64 {
        self.0.get(b"".as_slice()).copied().unwrap_or(0)
    }

    /// The innermost folder that has more than half of all files; otherwise the largest one, unless it is too small to
    /// be the cause.
    fn main(&self) -> Option<Vec<u8>> {
        let all = || self.0.iter().filter(|(folder, _)| !folder.is_empty());
        let with_most =
            all().filter(|(_, files)| **files * 2 > self.total()).max_by_key(|(folder, _)| folder.len());
        let found = with_most.or_else(|| {
            all().max_by_key(|(_, files)| **files).filter(|(_, files)| **files * 10 > self.total())
        });
        found.map(|(folder, _)| folder.clone())
    }

    fn remove(&mut self, folder: &[u8]) {
        let files = self.0.get(folder).copied().unwrap_or(0);
        for above in folders_above(folder) {
            self.0.entry(above.to_vec()).and_modify(|all| *all -= files);
        }
        let inside = joined(folder, b"");
        self.0.retain(|path, _| path != folder && !path.starts_with(&inside));
    }
}

/// The paths of everything in a folder that is neither a folder, nor a `.git`, nor inside of the repositories.
pub(super) fn list_files(
    checkout: &Checkout,
    folder: &[u8],
    repositories: &[Vec<u8>],
    each: &mut dyn FnMut(&[u8]) -> Result<(), GitError>,
) -> Result<(), GitError> {
    let repositories: HashSet<&[u8]> = repositories.iter().map(Vec::as_slice).collect();
    let mut result = Ok(());
    walk::walk(&checkout.work_tree, folder.to_vec(), &mut |found| {
        let WalkItem::Entry { folder, name, kind } = *found else { return Enter::No };
        let path = joined(folder, name);
        if result.is_err() || is_dot_git(name) || repositories.contains(path.as_slice()) {
            return Enter::No;
        }
        if kind != FileType::Directory {
            result = each(&path);
        }
        Enter::Yes
    })?;
    result
}

/// A pattern for exactly this folder.
fn excluding(path: &[u8]) -> OsString {
    let mut pattern = b"--exclude=/".to_vec();
    for byte in path {
        if b"*?[]\\".contains(byte) {
            pattern.push(b'\\');
        }
        pattern.push(*byte);
    }
    OsString::from_vec(pattern)
}

impl Survey {
    /// Those of the repositories that git ignores.
    pub(in crate::git) fn ignored(&self, checkout: &Checkout) -> Result<HashSet<Vec<u8>>, GitError> {
        let bad: Vec<&[u8]> = self.bad_ignore.iter().map(Vec::as_slice).collect();
        ignored(checkout, &outermost(&self.repositories), &bad)
    }
}

/// Those of the paths that git ignores. What has a bad `.gitignore` above it cannot be asked about, and is not ignored.
fn ignored(checkout: &Checkout, paths: &[&[u8]], bad: &[&[u8]]) -> Result<HashSet<Vec<u8>>, GitError> {
    let bad: HashSet<&[u8]> = bad.iter().copied().collect();
    let can_be_asked =
        |path: &&[u8]| !path.is_empty() && !folders_above(path).skip(1).any(|above| bad.contains(above));
    let mut list = Vec::new();
    for path in paths.iter().filter(|path| can_be_asked(path)) {
        // As it stands there: git takes what begins with a colon for a pattern.
        list.extend_from_slice(b"./");
        list.extend_from_slice(path);
        list.push(0);
    }
    let mut ignored = HashSet::new();
    if list.is_empty() {
        return Ok(ignored);
    }
    let (_file, input) = ScratchFile::new(&checkout.git_dir, "ask").with(&list)?;
    // Without the index, which would make git look for repositories at its entries.
    let git = Git::within(checkout).args(["check-ignore", "--no-index", "-z", "--stdin"]).stdin(input);
    let answered = git.records(&mut |path| {
        ignored.insert(path.strip_prefix(b"./").unwrap_or(path).to_vec());
        Ok(())
    });
    match answered {
        // None is, or something changes while git looks: then too much is kept.
        Err(GitError::Failed { .. }) => Ok(ignored),
        answered => answered.map(|()| ignored),
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IndexEntry {
    pub(super) mode: String,
    pub(super) object: Oid,
    pub(super) path: Vec<u8>,
}

impl IndexEntry {
    /// Reads a record of `git ls-files -s`.
    fn parse(record: &[u8]) -> Option<Self> {
        let tab = record.iter().position(|byte| *byte == b'\t')?;
        let mut words = std::str::from_utf8(&record[..tab]).ok()?.split(' ');
        let (mode, object) = (words.next()?.to_owned(), Oid::parse(words.next()?).ok()?);
        Some(Self { mode, object, path: record[tab + 1..].to_vec() })
    }

    pub(super) fn is_link(&self) -> bool {
        self.mode == "160000"
    }
}

/// Takes the entries out of the index that git must not compare with the files: it would look into a repository of the
/// agent's, or read attributes that it must not.
pub(super) fn take_out(
    checkout: &Checkout,
    index: &ScratchFile,
    survey: &Survey,
) -> Result<Vec<IndexEntry>, GitError> {
    if survey.repositories.is_empty() && survey.bad_attributes.is_empty() {
        return Ok(Vec::new());
    }
    let set = |paths: &'_ [Vec<u8>]| paths.iter().cloned().collect::<HashSet<_>>();
    let (repositories, unfiltered) = (set(&survey.repositories), set(&survey.bad_attributes));
    let is_harmful = |entry: &IndexEntry| {
        let mut above = folders_above(&entry.path).skip(1);
        if entry.is_link() {
            repositories.contains(&entry.path)
        } else {
            above.any(|it| unfiltered.contains(it))
        }
    };
    let mut taken = Vec::new();
    Git::within(checkout).index(index.path()).args(["ls-files", "-z", "-s"]).records(&mut |record| {
        taken.extend(IndexEntry::parse(record).filter(|entry| is_harmful(entry)));
        Ok(())
    })?;
    let paths: Vec<_> = taken.iter().map(|entry| entry.path.clone()).collect();
    add::forget(checkout, index, &paths)?;
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    use fleet_testkit::repo::Repo;

    use super::super::index;
    use super::*;

    /// Among what a tool has made, the work of an agent is not left out.
    #[test]
    fn new_folders_with_most_of_the_files_are_hidden() {
        let repo = Repo::init();
        let root = repo.path().canonicalize().unwrap();
        let write = |path: &str| {
            std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            std::fs::write(root.join(path), "x").unwrap();
        };
        write("src/main.rs");
        repo.git(&["add", "-A"]);
        repo.git(&["commit", "-q", "-m", "files"]);
        (0..30).for_each(|number| write(&format!("junk/{}/{number}", number % 3)));
        ["src/auth/a", "src/auth/b", "src/new.rs", "notes"].into_iter().for_each(write);
        let git_dir = root.join(".git");
        let checkout = Checkout { work_tree: root, git_dir: git_dir.clone(), common_dir: git_dir };
        let index = index::copy(&checkout).unwrap().unwrap();
        let guard = Guard::default().without_largest(&checkout, &index, 10).unwrap();
        assert_eq!(guard.large, [b"junk".to_vec()]);
        assert_eq!(guard.others().last().unwrap(), OsStr::new("--exclude=/junk"));
        assert!(Guard::default().without_largest(&checkout, &index, 34).unwrap().large.is_empty());
    }

    #[test]
    fn a_pattern_means_one_folder() {
        assert_eq!(excluding(b"a*/[b]\\ \n"), OsStr::from_bytes(b"--exclude=/a\\*/\\[b\\]\\\\ \n"));
    }

    #[test]
    fn too_many_folders_are_hidden_with_their_surroundings() {
        let many = |count: usize, top: &str| {
            let name = |number| format!("{top}/{number}/{}", "x".repeat(100)).into_bytes();
            (0..count).map(name).collect::<Vec<_>>()
        };
        let mut guard = Guard { repositories: many(10, "a"), ..Guard::default() };
        guard.hide();
        assert_eq!((guard.hidden.len(), guard.plain.len(), guard.others().len()), (10, 0, 12));
        guard.repositories = many(5_000, "a");
        guard.hide();
        assert_eq!(
            (guard.hidden.as_slice(), guard.plain.as_slice()),
            (&[b"a".to_vec()][..], &[b"a".to_vec()][..])
        );
        let tops = (0..5_000).map(|number| format!("{number}{}/r", "x".repeat(100)).into_bytes());
        let mut guard = Guard { repositories: tops.collect(), ..Guard::default() };
        guard.hide();
        assert_eq!((guard.hidden.as_slice(), guard.plain.as_slice()), (&[Vec::new()][..], &[Vec::new()][..]));
    }

    #[test]
    fn the_largest_folders_are_left_out() {
        let left_out = |sizes: &[(&str, usize)], most| {
            let mut folders = FolderCounts::default();
            for (folder, files) in sizes {
                (0..*files).for_each(|number| {
                    folders.count(&joined(folder.as_bytes(), number.to_string().as_bytes()));
                });
            }
            let names = folders.largest(most).into_iter();
            names.map(|name| String::from_utf8(name).unwrap()).collect::<Vec<_>>()
        };
        let nested = [("app/src", 5), ("app/modules/a", 40), ("app/modules/b", 40), ("", 3)];
        assert_eq!(left_out(&nested, 10), ["app/modules"]);
        assert_eq!(left_out(&[("a", 60), ("b", 60), ("c", 1)], 70).len(), 1);
        assert_eq!(left_out(&[("a", 50), ("b", 60), ("c", 1)], 5), ["b", "a"]);
        assert!(left_out(&[("", 60), ("a", 5)], 65).is_empty());
        assert!(left_out(&[("", 60), ("a", 5)], 10).is_empty(), "it would not help");
    }

    #[test]
    fn reads_entries() {
        let entry = IndexEntry::parse(b"160000 78981922613b2afb6025042ff6bd878ac1994e85 0\ta\tb").unwrap();
        assert!(entry.is_link());
        assert_eq!(entry.path, b"a\tb");
        assert_eq!(IndexEntry::parse(b"? a"), None);
    }
}
