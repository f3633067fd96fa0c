//! What is left of a run on this machine.

use std::fs;
use std::path::Path;

use fleet_host::git;

use crate::home::RunFolder;
use crate::verbs::prelude::*;
use fleet_api::verbs::run_show::{SnapshotView, StoredFile};

/// The snapshots of a run, oldest first; none where it did not run on this machine.
pub(super) fn snapshots(vault: &Path, run: RunId) -> Vec<SnapshotView> {
    let listed = git::list_snapshots(vault, Some(&run.to_string())).unwrap_or_default();
    let view = |snapshot: git::StoredSnapshot| SnapshotView {
        name: snapshot.ref_name,
        number: snapshot.number,
        commit: snapshot.commit.to_string(),
        why: snapshot.why,
        at: Moment(Millis(snapshot.at_seconds.saturating_mul(1_000))),
    };
    listed.into_iter().map(view).collect()
}

/// The files of a run, by name; none if it ran on another machine.
pub(super) fn kept(folder: &RunFolder) -> Vec<StoredFile> {
    let Ok(entries) = fs::read_dir(folder.dir()) else { return Vec::new() };
    let file = |entry: fs::DirEntry| {
        // The door of the run is a socket.
        let facts = entry.metadata().ok().filter(fs::Metadata::is_file)?;
        Some(StoredFile { bytes: facts.len(), path: entry.path() })
    };
    let mut files: Vec<StoredFile> = entries.flatten().filter_map(file).collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}
