//! The workspaces of a vault that runs have.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::git::gitdir::is_absence;
use crate::git::oid::Oid;
use crate::git::workspace::claimed_commits;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Claims {
    /// The workspaces that runs have, and the commits that these were made from.
    Known { places: Vec<PathBuf>, commits: BTreeSet<Oid> },
    /// The note beside this workspace cannot be read.
    Unreadable(PathBuf),
}

impl Claims {
    pub(super) fn of(dir: &Path) -> Self {
        let (mut places, mut commits) = (Vec::new(), BTreeSet::new());
        let folder = dir.join("worktrees");
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if is_absence(&error) => return Self::Known { places, commits },
            Err(_) => return Self::Unreadable(folder),
        };
        for place in entries.flatten().filter_map(|entry| work_tree(&entry.path())) {
            match claimed_commits(&place) {
                Ok(None) => {}
                Ok(Some(needed)) => {
                    commits.extend(needed);
                    places.push(place);
                }
                Err(_) => return Self::Unreadable(place),
            }
        }
        Self::Known { places, commits }
    }

    /// A workspace that a run has, or may have.
    pub(super) fn any(self) -> Option<PathBuf> {
        match self {
            Self::Known { places, .. } => places.into_iter().next(),
            Self::Unreadable(place) => Some(place),
        }
    }
}

/// The workspace that an administrative folder is for.
fn work_tree(admin_dir: &Path) -> Option<PathBuf> {
    let content = fs::read(admin_dir.join("gitdir")).ok()?;
    let dot_git = Path::new(OsStr::from_bytes(content.strip_suffix(b"\n")?));
    dot_git.parent().map(Path::to_owned)
}
