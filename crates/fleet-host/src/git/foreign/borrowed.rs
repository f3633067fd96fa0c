//! The object directories that a repository of ours borrows from.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use crate::git::alternates::{self, quoted};
use crate::git::error::GitError;
use crate::git::gitdir::is_absence;

/// The entries of `objects/info/alternates`, in order.
#[derive(Debug)]
pub(super) struct ListedAlternates {
    /// In quotes, as git reads them in a list.
    quoted: Vec<OsString>,
    /// Those that have no quotes in the file.
    plain: Vec<PathBuf>,
}

impl ListedAlternates {
    /// The list of the git directory `vault`.
    pub(super) fn by(vault: &Path) -> Result<Self, GitError> {
        let objects = vault.join("objects");
        let file = objects.join("info/alternates");
        let content = match fs::read(&file) {
            Err(error) if is_absence(&error) => Vec::new(),
            content => content.map_err(GitError::io(&file))?,
        };
        let lines = content.split(|byte| *byte == b'\n');
        let mut borrowed = Self { quoted: Vec::new(), plain: Vec::new() };
        for line in lines.filter(|line| !line.is_empty() && line[0] != b'#') {
            borrowed.add(&objects, line);
        }
        Ok(borrowed)
    }

    fn add(&mut self, objects: &Path, line: &[u8]) {
        if line[0] == b'"' {
            self.quoted.push(OsString::from_vec(line.to_vec()));
        } else {
            let path = objects.join(OsStr::from_bytes(line));
            self.quoted.push(quoted(&path));
            self.plain.push(path);
        }
    }

    /// A list for `GIT_ALTERNATE_OBJECT_DIRECTORIES` that has `last` at its end. Git takes a loose object from the first
    /// directory that has it, and would look into what is only in its file after what is in the variable.
    pub(super) fn before(&self, last: &Path) -> OsString {
        let mut all = self.quoted.clone();
        all.push(quoted(last));
        alternates::variable(&all)
    }

    /// Whether one of them is that of a partial clone, which promises objects that it does not have.
    pub(super) fn is_partial(&self) -> bool {
        self.plain.iter().any(|objects| has_promises(objects))
    }
}

fn has_promises(objects: &Path) -> bool {
    let Ok(entries) = fs::read_dir(objects.join("pack")) else { return false };
    entries
        .filter_map(Result::ok)
        .any(|entry| Path::new(&entry.file_name()).extension() == Some(OsStr::new("promisor")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_come_in_order_and_survive_odd_names() {
        let vault = tempfile::tempdir().unwrap();
        fs::create_dir_all(vault.path().join("objects/info")).unwrap();
        let list = b"# why\n/a:b/objects\n\n\"/quoted\\n\"\n../../other/objects\n";
        fs::write(vault.path().join("objects/info/alternates"), list).unwrap();
        let borrowed = ListedAlternates::by(vault.path()).unwrap();
        let objects = vault.path().join("objects");
        let expected = format!(
            "\"/a:b/objects\":\"/quoted\\n\":\"{}/../../other/objects\":\"/x\\\"\\\\y\"",
            objects.display()
        );
        assert_eq!(borrowed.before(Path::new("/x\"\\y")), OsString::from(expected));
    }
}
