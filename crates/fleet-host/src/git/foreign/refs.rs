//! `HEAD` and the refs of a repository that keeps them as files.

use std::collections::{BTreeMap, BTreeSet};

use fleet_core::refname::check_ref_name;

use super::Unreadable;
use super::folder::{EntryKind, Folder, FolderEntry};
use crate::git::files::Head;
use crate::git::oid::Oid;

/// A file of one ref is a line.
const LINE_LIMIT: u64 = 4096;
/// As much as a million refs need.
const PACKED_LIMIT: u64 = 64 << 20;
/// More refs than anyone works with.
const MAX_REFS: usize = 1_000_000;
/// Git cannot make files of longer names either.
const LONGEST_NAME: usize = 1024;
/// Deeper folders are ignored.
const MAX_DEPTH: usize = 32;

/// What `HEAD` says in a repository that keeps refs in tables, where git would not look at it.
const TABLE_HEAD: &str = "refs/heads/.invalid";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::git) struct Refs {
    /// The object of each ref, by its full name.
    pub(in crate::git) named: BTreeMap<String, Oid>,
    /// What could not be read: full names of refs, or of folders of refs, or `packed-refs`.
    pub(in crate::git) bad: Vec<String>,
}

/// What a single ref says.
#[derive(Debug, PartialEq, Eq)]
enum ForeignRef {
    Object(Oid),
    Symbolic(String),
}

/// What the `HEAD` of the git directory `own` says.
pub(super) fn head(own: &Folder, common: &Folder) -> Result<Head, Unreadable> {
    refuse_tables(common)?;
    let path = own.path().join("HEAD");
    let content = own.read("HEAD", LINE_LIMIT)?.ok_or_else(|| Unreadable::new(&path, "it does not exist"))?;
    match value(&content) {
        Some(ForeignRef::Object(commit)) => Ok(Head::Detached(commit)),
        Some(ForeignRef::Symbolic(name)) if name == TABLE_HEAD => Err(tables(common)),
        Some(ForeignRef::Symbolic(name)) if is_ref_name(&name) => Ok(Head::Branch(name)),
        _ => Err(Unreadable::new(&path, "it names neither a ref nor a commit")),
    }
}

pub(super) fn all(common: &Folder) -> Result<Refs, Unreadable> {
    refuse_tables(common)?;
    let refs = common
        .enter("refs")?
        .ok_or_else(|| Unreadable::new(&common.path().join("refs"), "it does not exist"))?;
    let mut walk = RefWalk { found: Refs::default(), hidden: BTreeSet::new(), left: MAX_REFS };
    walk.folder(&refs, "refs", MAX_DEPTH)?;
    walk.packed(common);
    Ok(walk.found)
}

fn refuse_tables(common: &Folder) -> Result<(), Unreadable> {
    if common.kind("reftable")?.is_some() { Err(tables(common)) } else { Ok(()) }
}

fn tables(common: &Folder) -> Unreadable {
    Unreadable::new(common.path(), "it keeps its refs in tables (reftable), not in files")
}

struct RefWalk {
    found: Refs,
    /// Refs that have a file which names no object: a packed ref of the same name does not count.
    hidden: BTreeSet<String>,
    /// How many more entries and lines are read.
    left: usize,
}

impl RefWalk {
    fn folder(&mut self, folder: &Folder, prefix: &str, depth: usize) -> Result<(), Unreadable> {
        let entries = folder.entries(self.left)?;
        self.left -= entries.len();
        for entry in entries.iter().filter(|entry| !is_passed_over(entry)) {
            let name = format!("{prefix}/{}", entry.name.to_string_lossy());
            if entry.name.to_str().is_none() || !is_ref_name(&name) {
                self.refuse(name);
                continue;
            }
            match entry.kind {
                EntryKind::File => self.file(folder, entry, name),
                EntryKind::Folder if depth > 0 => self.enter(folder, entry, name, depth)?,
                _ => self.refuse(name),
            }
        }
        Ok(())
    }

    fn enter(
        &mut self,
        above: &Folder,
        entry: &FolderEntry,
        name: String,
        depth: usize,
    ) -> Result<(), Unreadable> {
        match above.enter(&entry.name) {
            Ok(Some(folder)) => self.folder(&folder, &name, depth - 1)?,
            Ok(None) => {}
            Err(_) => self.refuse(name),
        }
        Ok(())
    }

    fn file(&mut self, folder: &Folder, entry: &FolderEntry, name: String) {
        match folder.read(&entry.name, LINE_LIMIT).map(|content| content.map(|content| value(&content))) {
            Ok(Some(Some(ForeignRef::Object(object)))) => {
                self.found.named.insert(name, object);
            }
            Ok(Some(Some(ForeignRef::Symbolic(_)))) => {
                self.hidden.insert(name);
            }
            // Deleted, or packed, since it was listed.
            Ok(None) => {}
            Ok(Some(None)) | Err(_) => self.refuse(name),
        }
    }

    fn refuse(&mut self, name: String) {
        let name = shown(name);
        self.hidden.insert(name.clone());
        self.found.bad.push(name);
    }

    /// Adds packed refs that have no file. Read after the files: a ref that is packed meanwhile is then in one of them.
    fn packed(&mut self, common: &Folder) {
        let Ok(content) = common.read("packed-refs", PACKED_LIMIT) else {
            return self.found.bad.push("packed-refs".to_owned());
        };
        for line in content.unwrap_or_default().split(|byte| *byte == b'\n') {
            let Some(left) = self.left.checked_sub(1) else {
                return self.found.bad.push("packed-refs".to_owned());
            };
            self.left = left;
            self.line(line);
        }
    }

    fn line(&mut self, line: &[u8]) {
        // Comments, and the peeled object of the tag in the line before.
        if line.is_empty() || matches!(line[0], b'#' | b'^') {
            return;
        }
        let parsed = std::str::from_utf8(line).ok().and_then(|line| line.trim_ascii_end().split_once(' '));
        let Some((id, name)) = parsed else {
            return self.refuse(String::from_utf8_lossy(line).into_owned());
        };
        if self.hidden.contains(name) || self.found.named.contains_key(name) {
            return;
        }
        match object(id) {
            Some(object) if is_ref_name(name) => drop(self.found.named.insert(name.to_owned(), object)),
            _ => self.refuse(name.to_owned()),
        }
    }
}

/// What git passes over, too: hidden files, and the locks that a killed git leaves behind.
fn is_passed_over(entry: &FolderEntry) -> bool {
    let name = entry.name.as_encoded_bytes();
    name.starts_with(b".") || (entry.kind == EntryKind::File && name.ends_with(b".lock"))
}

/// The start of a name, which may be anything.
fn shown(name: String) -> String {
    if name.len() <= LONGEST_NAME { name } else { name.chars().take(200).collect() }
}

fn is_ref_name(name: &str) -> bool {
    name.len() <= LONGEST_NAME && name.starts_with("refs/") && check_ref_name(name).is_ok()
}

/// The content of the file of a ref. As in git, nothing counts after the id and a space.
fn value(content: &[u8]) -> Option<ForeignRef> {
    let text = std::str::from_utf8(content).ok()?;
    if let Some(name) = text.strip_prefix("ref:") {
        return Some(ForeignRef::Symbolic(name.trim().to_owned()));
    }
    object(text.split_ascii_whitespace().next()?).map(ForeignRef::Object)
}

/// The name of an object; zeros mean none.
pub(super) fn object(text: &str) -> Option<Oid> {
    Oid::parse(text).ok().filter(|oid| oid.as_str().bytes().any(|digit| digit != b'0'))
}
