//! What a tree has that a commit does not.

use std::path::Path;

use super::command::Git;
use super::error::GitError;
use super::oid::Oid;

/// The mode of a folder, and of a link to another repository.
const FOLDER: &str = "040000";
const LINK: &str = "160000";

/// A file, folder or link to another repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NewEntry {
    pub(super) path: Vec<u8>,
    pub(super) now: TreeItem,
    /// What the commit has at this path.
    pub(super) before: Option<TreeItem>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TreeItem {
    pub(super) mode: String,
    pub(super) object: Oid,
}

impl TreeItem {
    /// `None` if there is nothing.
    fn parse(mode: &str, object: &str) -> Option<Self> {
        let object = Oid::parse(object).ok().filter(|_| mode != "000000")?;
        Some(Self { mode: mode.to_owned(), object })
    }

    pub(super) fn is_folder(&self) -> bool {
        self.mode == FOLDER
    }

    /// Whether the object is in this repository: a link names one of another.
    pub(super) fn is_here(&self) -> bool {
        self.mode != LINK
    }
}

/// What is new or changed in `tree` since the commit `from`; everything if there is no such commit.
pub(super) fn new_entries(git_dir: &Path, from: Option<&Oid>, tree: &Oid) -> Result<Vec<NewEntry>, GitError> {
    match from {
        Some(from) => changed(git_dir, from, tree),
        None => all(git_dir, tree),
    }
}

fn changed(git_dir: &Path, from: &Oid, tree: &Oid) -> Result<Vec<NewEntry>, GitError> {
    let (mut found, mut open) = (Vec::new(), None);
    let compare = ["diff-tree", "-r", "-t", "-z", "--raw", "--no-renames", "--no-abbrev"];
    Git::about(git_dir)
        .args(compare)
        .args(["--ignore-submodules=none", from.as_str(), tree.as_str()])
        .records(&mut |record| {
            match open.take() {
                None => open = Some(String::from_utf8_lossy(record).into_owned()),
                Some(fields) => found.extend(entry(&fields, record)),
            }
            Ok(())
        })?;
    Ok(found)
}

/// Reads `:MODE MODE OBJECT OBJECT STATUS` and a path. `None` if it was removed.
fn entry(fields: &str, path: &[u8]) -> Option<NewEntry> {
    let mut words = fields.trim_start_matches(':').split(' ');
    let mut word = || words.next().unwrap_or_default();
    let (old_mode, mode, old_object, object) = (word(), word(), word(), word());
    let now = TreeItem::parse(mode, object)?;
    Some(NewEntry { path: path.to_vec(), now, before: TreeItem::parse(old_mode, old_object) })
}

fn all(git_dir: &Path, tree: &Oid) -> Result<Vec<NewEntry>, GitError> {
    let mut found = Vec::new();
    Git::about(git_dir).args(["ls-tree", "-r", "-t", "-z", tree.as_str()]).records(&mut |record| {
        let tab = record.iter().position(|byte| *byte == b'\t').unwrap_or(record.len());
        let fields = String::from_utf8_lossy(&record[..tab]);
        let mut words = fields.split(' ');
        if let (Some(mode), _, Some(object)) = (words.next(), words.next(), words.next())
            && let Some(now) = TreeItem::parse(mode, object)
        {
            let path = record.get(tab + 1..).unwrap_or_default().to_vec();
            found.push(NewEntry { path, now, before: None });
        }
        Ok(())
    })?;
    Ok(found)
}
