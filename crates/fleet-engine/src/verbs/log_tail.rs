//! The end of a log, to tell why something failed.

use std::path::Path;

use fleet_host::log::{LogPiece, LogReader};

/// A longer end is cut.
const MAX_BYTES: usize = 64 * 1024;

/// The last lines; none if there is no log.
pub(super) fn of(log: &Path, lines: usize) -> Vec<String> {
    let Ok(mut log) = LogReader::at_last_lines(log, lines) else { return Vec::new() };
    let mut bytes = Vec::new();
    while let Ok(Some(piece)) = log.next_piece(MAX_BYTES) {
        if let LogPiece::Bytes { bytes: piece, .. } = piece {
            bytes.extend(piece);
        }
        if bytes.len() >= MAX_BYTES {
            break;
        }
    }
    String::from_utf8_lossy(&bytes).lines().map(ToOwned::to_owned).collect()
}
