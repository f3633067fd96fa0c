//! SQLite's error codes, turned into what a person can act on.

use std::path::Path;

use rusqlite::ErrorCode;

use crate::StoreError;

/// Below this a failed write is taken for a full disk, whatever SQLite calls it.
const FULL_BELOW_BYTES: u64 = 256 * 1024;

pub(super) fn explain(error: &rusqlite::Error, path: &Path) -> StoreError {
    let at = path.display().to_string();
    let why = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::Full { at },
        Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) if is_full(path) => StoreError::Full { at },
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Corrupt { at, why },
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
            StoreError::Unwritable { at, why }
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            super::holder::busy(&super::connection::beside(path, ".lock"))
        }
        _ => StoreError::Failed(why),
    }
}

pub(super) fn explain_io(error: &std::io::Error, path: &Path) -> StoreError {
    let at = path.display().to_string();
    match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => StoreError::Full { at },
        _ => StoreError::Unwritable { at, why: error.to_string() },
    }
}

fn is_full(path: &Path) -> bool {
    let folder = path.parent().unwrap_or(path);
    rustix::fs::statvfs(folder)
        .is_ok_and(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) < FULL_BELOW_BYTES)
}
