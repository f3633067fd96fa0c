//! Reads files that the kernel makes up, in `/proc` and `/sys`. They say that they are empty or a page long, so that the
//! standard library would ask for their length in vain and read them in many small pieces.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// Most of them fit.
const ROOM: usize = 4096;

/// The kernel limits the longest, arguments and environment of a process, to this.
const MAX_LENGTH: u64 = 6 * 1024 * 1024;

pub(crate) fn read(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let mut content = Vec::with_capacity(ROOM);
    File::open(path)?.take(MAX_LENGTH).read_to_end(&mut content)?;
    Ok(content)
}

pub(crate) fn read_text(path: impl AsRef<Path>) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(io::Error::other)
}
