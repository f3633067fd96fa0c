//! What is left of a run on this machine.

use std::fs;
use std::path::Path;

use fleet_core::id::RunId;
use fleet_core::time::Millis;
use fleet_host::git;
use fleet_host::log::{LogReader, Piece};

use crate::home::RunFolder;
use fleet_api::Moment;
use fleet_api::verbs::run_show::{SnapshotView, StoredFile};

/// At most this many lines of a log, to show why it failed.
const TAIL: usize = 20;
/// A longer line is cut.
const LONGEST_TAIL: usize = 64 * 1024;

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

pub(super) fn setup_log(folder: &RunFolder) -> Vec<String> {
    let Ok(mut log) = LogReader::at_last_lines(&folder.setup_log(), TAIL) else { return Vec::new() };
    let mut bytes = Vec::new();
    while let Ok(Some(piece)) = log.next_piece(LONGEST_TAIL) {
        if let Piece::Bytes { bytes: piece, .. } = piece {
            bytes.extend(piece);
        }
        if bytes.len() >= LONGEST_TAIL {
            break;
        }
    }
    String::from_utf8_lossy(&bytes).lines().map(ToOwned::to_owned).collect()
}
