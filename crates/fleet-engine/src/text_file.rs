//! Text files that people and repositories bring. Must never trust what they are, or how large.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

/// Why a file is not read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unusable {
    #[error("there is no such file")]
    Missing,
    #[error("cannot be read: {0}")]
    Unread(std::io::Error),
    #[error("it is not a file")]
    NotAFile,
    #[error("it is larger than {}", size(*.0))]
    TooLarge(u64),
    /// From this line on.
    #[error("it is not UTF-8 text, from line {0} on")]
    NotText(usize),
}

fn size(bytes: u64) -> String {
    if bytes >= 1 << 20 { format!("{} MiB", bytes >> 20) } else { format!("{} KiB", bytes >> 10) }
}

/// The text of a file of at most this size.
pub(crate) fn read(path: &Path, limit: u64) -> Result<String, Unusable> {
    // Asked before opening, because opening a named pipe waits for a writer.
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Err(Unusable::NotAFile),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Err(Unusable::Missing);
        }
        Err(error) => return Err(Unusable::Unread(error)),
    }
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes));
    read.map_err(Unusable::Unread)?;
    if bytes.len() as u64 > limit {
        return Err(Unusable::TooLarge(limit));
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        Unusable::NotText(good.split(|byte| *byte == b'\n').count())
    })
}
