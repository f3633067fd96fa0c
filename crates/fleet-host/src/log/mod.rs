//! What an agent wrote, on disk, within a size.
//!
//! Owns the raw logs of runs: the beginning of a stream and its newest bytes are kept, and the middle is left out when
//! there is too much. Must never lose count: a position is a position in all that the agent wrote, whether or not it is
//! still there.
//!
//! On disk a log is up to three files. `stdout.log` is the beginning, byte for byte. When it is full the stream goes on
//! in `stdout.log.tail`, which is renamed to `stdout.log.tail.1` when it is full in its turn, over the one before. Each
//! of these two begins with a line that says where in the stream it starts, so that no file has to be changed together
//! with another one and a crash between any two steps leaves a log that reads well. One file that wraps around was
//! considered instead: it cannot be read with `less`, nor while it is written.

mod read;
mod write;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::plain;

pub use read::{LogPiece, LogReader};
pub use write::CappedLog;

const LABEL: &str = "# fleet: from byte ";
const DIGITS: usize = 20;
/// The first line of a tail: the label, twenty digits, the line end.
const HEADER: usize = LABEL.len() + DIGITS + 1;
/// The same, as a position in a file.
const HEADER_LENGTH: u64 = HEADER as u64;

fn header(start: u64) -> String {
    format!("{LABEL}{start:0DIGITS$}\n")
}

fn parse_header(line: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(line).ok()?.strip_prefix(LABEL)?.strip_suffix('\n')?;
    digits.parse().ok().filter(|_| digits.len() == DIGITS)
}

/// The two files after the beginning of a log: the older one and the newer one.
fn tails(path: &Path) -> [PathBuf; 2] {
    let beside = |suffix: &str| {
        let mut name = OsString::from(path);
        name.push(suffix);
        PathBuf::from(name)
    };
    [beside(".tail.1"), beside(".tail")]
}

struct Segment {
    file: File,
    /// Where in the stream its first byte is.
    start: u64,
    /// How many bytes of the stream it holds.
    length: u64,
    /// Where in the file the stream begins.
    skip: u64,
}

impl Segment {
    fn end(&self) -> u64 {
        self.start + self.length
    }

    /// The beginning of a log. `None` when there is none.
    fn head(path: &Path) -> io::Result<Option<Self>> {
        let Some(file) = open_existing(path)? else { return Ok(None) };
        let length = file.metadata()?.len();
        Ok(Some(Self { file, start: 0, length, skip: 0 }))
    }

    /// One of the tails of a log. `None` when there is none, or when its maker was killed before the first line of it
    /// was written, which comes before anything else.
    fn tail(path: &Path) -> io::Result<Option<Self>> {
        let Some(mut file) = open_existing(path)? else { return Ok(None) };
        let mut line = [0; HEADER];
        match file.read_exact(&mut line) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(error),
        }
        let start = parse_header(&line).ok_or_else(|| {
            let why = format!("{} is not the tail of a log: its first line is another", path.display());
            io::Error::new(io::ErrorKind::InvalidData, why)
        })?;
        let length = file.metadata()?.len().saturating_sub(HEADER_LENGTH);
        Ok(Some(Self { file, start, length, skip: HEADER_LENGTH }))
    }
}

fn open_existing(path: &Path) -> io::Result<Option<File>> {
    match plain::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_of_a_tail() {
        for start in [0, 7, u64::MAX] {
            let line = header(start);
            assert_eq!(line.len(), HEADER);
            assert_eq!(parse_header(line.as_bytes()), Some(start));
        }
        assert_eq!(parse_header(b"# fleet: from byte 7\n"), None);
        assert_eq!(parse_header(b"something else"), None);
    }
}
