//! Reading a log, while it is written or later.

use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use super::{Segment, tails};

/// How often the files are opened again when they seem to have been renamed meanwhile.
const REOPEN_TRIES: usize = 5;

/// How much is read at a time where the caller does not say.
const BLOCK: u64 = 64 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogPiece {
    /// Bytes that follow each other.
    Bytes {
        /// Where in the stream the first of them is.
        offset: u64,
        /// Never empty.
        bytes: Vec<u8>,
    },
    /// Bytes that were not stored.
    Gap {
        /// Where in the stream the first of them was.
        offset: u64,
        left_out: u64,
    },
}

/// A position in a log, from which it is read piece by piece.
///
/// Holds no file open between two calls, so that it can follow a log for days while the files are renamed.
#[derive(Debug, Clone)]
pub struct LogReader {
    path: PathBuf,
    position: u64,
}

impl LogReader {
    /// From the beginning. A log that does not exist yet is an empty one.
    pub fn new(path: &Path) -> Self {
        Self::starting_at(path, 0)
    }

    /// From a position in the stream.
    pub fn starting_at(path: &Path, position: u64) -> Self {
        Self { path: path.to_owned(), position }
    }

    /// From the beginning of the last `lines` lines, without reading what is before them. A line that has not ended yet
    /// counts as one, and so does a line with a gap in it.
    pub fn at_last_lines(path: &Path, lines: usize) -> io::Result<Self> {
        let mut search = Backwards { wanted: lines, position: None };
        let segments = open_segments(path)?;
        let end = segments.last().map_or(0, Segment::end);
        for segment in segments.iter().rev() {
            if search.scan_segment(segment)? {
                break;
            }
        }
        Ok(Self::starting_at(path, search.position.filter(|_| lines > 0).unwrap_or(end)))
    }

    /// Where in the stream the next piece starts.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// How long the stream is by now.
    pub fn end(&self) -> io::Result<u64> {
        Ok(open_segments(&self.path)?.last().map_or(0, Segment::end))
    }

    /// The next piece, of at most `max` bytes. `None` at the end: ask again later to follow the log.
    pub fn next_piece(&mut self, max: usize) -> io::Result<Option<LogPiece>> {
        for segment in open_segments(&self.path)? {
            if self.position >= segment.end() {
                continue;
            }
            let offset = self.position;
            if offset < segment.start {
                self.position = segment.start;
                return Ok(Some(LogPiece::Gap { offset, left_out: segment.start - offset }));
            }
            let bytes = segment.read(offset, max as u64)?;
            self.position += bytes.len() as u64;
            return Ok((!bytes.is_empty()).then_some(LogPiece::Bytes { offset, bytes }));
        }
        Ok(None)
    }
}

impl Segment {
    /// Reads up to `max` bytes at a position of the stream.
    fn read(&self, offset: u64, max: u64) -> io::Result<Vec<u8>> {
        let length = max.min(self.end() - offset);
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
        let mut filled = 0;
        while filled < bytes.len() {
            let place = offset - self.start + self.skip + filled as u64;
            match self.file.read_at(&mut bytes[filled..], place) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
    }
}

/// The files of a log in the order of the stream, leaving out empty ones.
///
/// They may be renamed between opening one and opening the next. Then one is missing that was never left out, which
/// shows as a gap between the two tails; it goes away when one looks again, unless a crash has really made one.
fn open_segments(path: &Path) -> io::Result<Vec<Segment>> {
    let [older_path, newer_path] = tails(path);
    let mut segments = Vec::new();
    for _ in 0..REOPEN_TRIES {
        let older = Segment::tail(&older_path)?;
        let newer = Segment::tail(&newer_path)?;
        let torn = match (&older, &newer) {
            (Some(older), Some(newer)) => older.end() != newer.start,
            _ => false,
        };
        let all = [Segment::head(path)?, older, newer];
        segments = all.into_iter().flatten().filter(|segment| segment.length > 0).collect();
        if !torn {
            break;
        }
    }
    segments.sort_by_key(|segment| segment.start);
    Ok(segments)
}

/// The search for the beginning of the last lines.
struct Backwards {
    /// How many more lines.
    wanted: usize,
    /// The beginning of the earliest line so far.
    position: Option<u64>,
}

impl Backwards {
    /// Looks through a segment from its end to its beginning. True when nothing more is wanted.
    fn scan_segment(&mut self, segment: &Segment) -> io::Result<bool> {
        let mut until = segment.end();
        while until > segment.start && self.wanted > 0 {
            let from = until.saturating_sub(BLOCK).max(segment.start);
            let bytes = segment.read(from, until - from)?;
            self.through_block(from, &bytes);
            until = from;
        }
        Ok(self.wanted == 0)
    }

    fn through_block(&mut self, from: u64, bytes: &[u8]) {
        for (index, byte) in bytes.iter().enumerate().rev() {
            let after = from + index as u64 + 1;
            if *byte == b'\n' && self.position.is_some() {
                self.wanted -= 1;
                if self.wanted == 0 {
                    return;
                }
            }
            self.position = Some(after - 1);
        }
    }
}
