//! Who uses the folders of workspaces.
//!
//! Owns the answer to whether a process works in a folder, or has something in it open: not every process of a run can be
//! found after its keeper was killed ([`ProcessTree`](super::ProcessTree)), and people open terminals and editors wherever they like.
//! The answer costs one look at all processes, however many files and folders there are. Processes of other users, and
//! those in a container with another view of the file system, cannot be seen.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::process::getpid;

use super::table;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occupant {
    pub pid: i32,
    pub name: String,
}

impl std::fmt::Display for Occupant {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} {}", self.name, self.pid)
    }
}

/// The processes that used the folders inside one folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Occupants {
    /// By the names of the folders.
    folders: BTreeMap<OsString, Vec<Occupant>>,
}

impl Occupants {
    /// Scans once, for all folders in `parent`. This process does not count.
    pub fn in_folders_of(parent: &Path) -> Self {
        // The system shows paths without links.
        let Ok(parent) = fs::canonicalize(parent) else { return Self::default() };
        let (parent, own) = (parent.as_os_str().as_bytes(), getpid().as_raw_pid());
        let mut found: BTreeMap<OsString, Vec<i32>> = BTreeMap::new();
        table::used_paths(&mut |pid, path| {
            if pid == own {
                return;
            }
            if let Some(folder) = folder_in(parent, path) {
                let pids = found.entry(folder.to_owned()).or_default();
                if pids.last() != Some(&pid) {
                    pids.push(pid);
                }
            }
        });
        let folders = found.into_iter().map(|(folder, pids)| (folder, occupants(&pids)));
        Self { folders: folders.filter(|(_, occupants)| !occupants.is_empty()).collect() }
    }

    /// The names of the folders that were in use.
    pub fn folders(&self) -> BTreeSet<String> {
        self.folders.keys().map(|name| name.to_string_lossy().into_owned()).collect()
    }

    /// Those that used this folder.
    pub fn of(&self, folder: &Path) -> &[Occupant] {
        let name = folder.file_name().unwrap_or_default();
        self.folders.get(name).map_or(&[], Vec::as_slice)
    }
}

/// Which folder in `parent` a path leads into.
fn folder_in<'a>(parent: &[u8], path: &'a [u8]) -> Option<&'a OsStr> {
    let below = path.strip_prefix(parent)?.strip_prefix(b"/")?;
    let name = below.split(|byte| *byte == b'/').next()?;
    (!name.is_empty()).then(|| OsStr::from_bytes(name))
}

/// Those that have not ended since.
fn occupants(pids: &[i32]) -> Vec<Occupant> {
    let entries = pids.iter().filter_map(|pid| table::one(*pid));
    entries.map(|entry| Occupant { pid: entry.pid, name: entry.name }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_into_one_folder() {
        let folder = |path: &'static str| folder_in(b"/home/trees", path.as_bytes()).and_then(OsStr::to_str);
        assert_eq!(folder("/home/trees/w1"), Some("w1"));
        assert_eq!(folder("/home/trees/w1/src/main.rs"), Some("w1"));
        for other in ["/home/trees", "/home/trees/", "/home/treesome/w1", "/elsewhere/w1", "socket:[1]"] {
            assert_eq!(folder(other), None, "{other}");
        }
        // The lock of a workspace is beside it.
        assert_eq!(folder("/home/trees/w1.lock"), Some("w1.lock"));
    }
}
