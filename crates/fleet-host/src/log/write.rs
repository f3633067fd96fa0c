//! Writing a log.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::{HEADER_LENGTH, Segment, header, tails};

/// Below this there would be more headers than log.
const SMALLEST_CAP: u64 = 1024;

/// A log that grows up to a size and then keeps its beginning and its newest bytes.
///
/// Half of the size is for the beginning; the newest bytes have between a quarter and a half. It has one writer at a
/// time, which the caller sees to. Bytes reach the kernel with each write and are not forced to the disk: they survive
/// the writer, and are not worth a disk's time each.
#[derive(Debug)]
pub struct CappedLog {
    path: PathBuf,
    /// How long the beginning may become.
    head_room: u64,
    /// How long each of the two tails may get, its first line included.
    tail_room: u64,
    place: LogPosition,
    position: u64,
    left_out: u64,
}

#[derive(Debug)]
enum LogPosition {
    Nowhere,
    Head(File),
    Tail { file: File, length: u64 },
}

impl CappedLog {
    /// Starts a log, or goes on with one whose writer has ended, wherever that was. Its folder must exist.
    pub fn open(path: &Path, cap_bytes: u64) -> io::Result<Self> {
        let mut log = Self::when_written(path, cap_bytes);
        log.begin()?;
        Ok(log)
    }

    /// The same, at the first write: many streams stay empty, and a file of each costs more than it tells.
    pub fn when_written(path: &Path, cap_bytes: u64) -> Self {
        let cap = cap_bytes.max(SMALLEST_CAP);
        Self {
            path: path.to_owned(),
            head_room: cap / 2,
            tail_room: cap / 4,
            place: LogPosition::Nowhere,
            position: 0,
            left_out: 0,
        }
    }

    fn begin(&mut self) -> io::Result<()> {
        self.place = LogPosition::Head(append_to(&self.path)?);
        self.find_the_end()
    }

    /// How many bytes the whole stream has by now.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// How many bytes are not in the log any more.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    fn find_the_end(&mut self) -> io::Result<()> {
        let [older_path, newer_path] = tails(&self.path);
        let head_end = Segment::head(&self.path)?.map_or(0, |head| head.end());
        let older = Segment::tail(&older_path)?;
        let newer = Segment::tail(&newer_path)?;
        // After a power cut a file can be shorter than it was; what is missing counts as left out.
        self.position = [&older, &newer].into_iter().flatten().map(Segment::end).fold(head_end, u64::max);
        self.left_out = left_out(head_end, older.as_ref(), newer.as_ref());
        if let Some(newer) = newer {
            let length = newer.length + HEADER_LENGTH;
            self.place = LogPosition::Tail { file: append_to(&newer_path)?, length };
        } else if older.is_some() {
            self.place = begin_tail(&newer_path, self.position)?;
        }
        Ok(())
    }

    /// Writes as much as fits into the file that is being written.
    fn write_some(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match &mut self.place {
            LogPosition::Nowhere => 0,
            LogPosition::Head(file) => file.write(fitting(bytes, self.head_room - self.position))?,
            LogPosition::Tail { file, length } => {
                let written = file.write(fitting(bytes, self.tail_room - *length))?;
                *length += written as u64;
                written
            }
        };
        self.position += written as u64;
        Ok(written)
    }

    /// Goes on in a new tail when the file that is being written is full.
    fn make_room(&mut self) -> io::Result<()> {
        let [older, newer] = tails(&self.path);
        match &self.place {
            LogPosition::Head(_) if self.position < self.head_room => return Ok(()),
            LogPosition::Tail { length, .. } if *length < self.tail_room => return Ok(()),
            // An earlier attempt may have come to here and then found the disk full.
            LogPosition::Tail { .. } if Segment::tail(&newer)?.is_some() => {
                let replaced = Segment::tail(&older)?.map_or(0, |gone| gone.length);
                fs::rename(&newer, &older)?;
                self.left_out += replaced;
            }
            LogPosition::Nowhere | LogPosition::Head(_) | LogPosition::Tail { .. } => {}
        }
        self.place = begin_tail(&newer, self.position)?;
        Ok(())
    }
}

impl Write for CappedLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        if matches!(self.place, LogPosition::Nowhere) {
            self.begin()?;
        }
        self.make_room()?;
        self.write_some(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn fitting(bytes: &[u8], room: u64) -> &[u8] {
    &bytes[..usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len())]
}

/// What is missing between the files of a log.
fn left_out(head_end: u64, older: Option<&Segment>, newer: Option<&Segment>) -> u64 {
    let mut missing = 0;
    let mut seen_to = head_end;
    for segment in [older, newer].into_iter().flatten() {
        missing += segment.start.saturating_sub(seen_to);
        seen_to = segment.end();
    }
    missing
}

fn append_to(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

/// Makes a new tail. One that is there already is the unfinished beginning of one, and is begun again.
fn begin_tail(path: &Path, start: u64) -> io::Result<LogPosition> {
    let mut file = append_to(path)?;
    file.set_len(0)?;
    file.write_all(header(start).as_bytes())?;
    Ok(LogPosition::Tail { file, length: HEADER_LENGTH })
}
