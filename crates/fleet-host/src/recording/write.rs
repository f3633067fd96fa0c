//! Writing a recording.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::Duration;

use rustix::fs::OFlags;
use serde_json::json;

use super::read::{Header, parse_event};
use super::text::TextDecoder;
use super::{MAX_LINE, Recorded, RecordedEvent};
use crate::TerminalSize;

/// Output that comes within this time is one event: a player shows no more pictures in a second anyway.
const COALESCED: Duration = Duration::from_millis(16);

/// Output of more bytes than this is an event at once.
const LONGEST_EVENT: usize = 64 * 1024;

/// Room for the last event, which says that the recording ends.
const MARKER_ROOM: u64 = 256;

/// Below this there would be no room for anything.
const SMALLEST_CAP: u64 = 4096;

/// A recording that is being written. Events reach the kernel as whole lines, so that a killed writer leaves a file that
/// reads well; only the last line may be cut off, where the disk was full.
#[derive(Debug)]
pub struct Recording {
    file: File,
    length: u64,
    cap: u64,
    /// When this writer began, in the time of the recording.
    start: Duration,
    decoder: TextDecoder,
    pending: String,
    /// When the oldest output that is pending came, in the time of the recording.
    pending_since: Duration,
    /// The time of the newest event.
    newest: Duration,
    is_full: bool,
}

impl Recording {
    /// Starts a recording, or goes on with one whose writer has ended: its time goes on, too. Its folder must exist.
    pub fn create(path: &Path, size: TerminalSize, title: &str, cap_bytes: u64) -> io::Result<Self> {
        let file = open(path)?;
        let mut recording = Self {
            file,
            length: 0,
            cap: cap_bytes.max(SMALLEST_CAP),
            start: Duration::ZERO,
            decoder: TextDecoder::default(),
            pending: String::new(),
            pending_since: Duration::ZERO,
            newest: Duration::ZERO,
            is_full: false,
        };
        if recording.continue_after()? {
            recording.resize(Duration::ZERO, size)?;
        } else {
            let header = json!({
                "version": 2, "width": size.columns(), "height": size.rows(), "title": title,
            });
            recording.append(&format!("{header}\n"))?;
        }
        Ok(recording)
    }

    /// Takes output, which came this long after this writer began. It may wait for more; see [`flush`](Self::flush).
    pub fn output(&mut self, elapsed: Duration, output: &[u8]) -> io::Result<()> {
        if self.is_full {
            return Ok(());
        }
        for piece in output.chunks(LONGEST_EVENT) {
            let now = self.start + elapsed;
            if now.saturating_sub(self.pending_since) >= COALESCED || self.pending.len() >= LONGEST_EVENT {
                self.flush()?;
            }
            if self.pending.is_empty() {
                self.pending_since = now;
            }
            self.decoder.push(piece, &mut self.pending);
        }
        Ok(())
    }

    pub fn resize(&mut self, elapsed: Duration, size: TerminalSize) -> io::Result<()> {
        self.flush()?;
        self.event(self.start + elapsed, "r", &format!("{}x{}", size.columns(), size.rows()))
    }

    /// Whether there is output that waits.
    pub fn is_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Whether the recording has ended because it is as large as it may become.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// Writes output that waits. To be called when no more output comes for a moment.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let output = std::mem::take(&mut self.pending);
        self.event(self.pending_since, "o", &output)
    }

    fn event(&mut self, time: Duration, kind: &str, data: &str) -> io::Result<()> {
        if self.is_full {
            return Ok(());
        }
        self.newest = self.newest.max(time);
        let line = line(self.newest, kind, data);
        if self.length + line.len() as u64 + MARKER_ROOM <= self.cap {
            return self.append(&line);
        }
        self.is_full = true;
        self.append(&self.marker())
    }

    fn marker(&self) -> String {
        line(self.newest, "m", &format!("recording stopped at its limit of {} bytes", self.cap))
    }

    fn append(&mut self, line: &str) -> io::Result<()> {
        let written = self.file.write_all(line.as_bytes());
        if written.is_err() {
            // Otherwise the next line would go on where this one was cut off.
            let _ = self.file.set_len(self.length);
        } else {
            self.length += line.len() as u64;
        }
        written
    }

    /// Finds the end of what is there. False if that is nothing, or a header that was cut off; an error if it is not a
    /// recording.
    fn continue_after(&mut self) -> io::Result<bool> {
        let first = first_line(&mut self.file)?;
        if first.is_empty() || is_cut_off_header(&first) {
            self.file.set_len(0)?;
            return Ok(false);
        }
        Header::parse(&first)?;
        self.length = end_of_last_line(&mut self.file)?;
        self.file.set_len(self.length)?;
        if let Some(last) = last_event(&mut self.file, self.length)? {
            (self.start, self.newest) = (last.time, last.time);
            self.is_full = matches!(last.what, Recorded::Marker(_));
        }
        Ok(true)
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        self.decoder.finish(&mut self.pending);
        // Nothing better can be done: the disk may be full.
        let _ = self.flush();
    }
}

/// Neither waits for a pipe nor follows a link that an agent has put there.
fn open(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed();
    let file =
        OpenOptions::new().read(true).append(true).create(true).mode(0o600).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("{} is not a file", path.display())));
    }
    file.set_permissions(Permissions::from_mode(0o600))?;
    Ok(file)
}

fn line(time: Duration, kind: &str, data: &str) -> String {
    format!("[{:.6}, {}, {}]\n", time.as_secs_f64(), json!(kind), json!(data))
}

/// Where the last line ends that is complete.
fn end_of_last_line(file: &mut File) -> io::Result<u64> {
    let length = file.seek(SeekFrom::End(0))?;
    let tail = read_tail(file, length)?;
    let kept = tail.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last as u64 + 1);
    Ok(length - tail.len() as u64 + kept)
}

/// The last of the complete lines that is an event.
fn last_event(file: &mut File, length: u64) -> io::Result<Option<RecordedEvent>> {
    let tail = read_tail(file, length)?;
    let lines = tail.split(|byte| *byte == b'\n');
    Ok(lines.rev().find_map(|line| parse_event(line).ok().flatten()))
}

fn read_tail(file: &mut File, length: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(length.saturating_sub(MAX_LINE)))?;
    let mut tail = Vec::new();
    file.take(MAX_LINE).read_to_end(&mut tail)?;
    Ok(tail)
}

fn is_cut_off_header(line: &[u8]) -> bool {
    line.starts_with(b"{") && !line.ends_with(b"\n") && (line.len() as u64) < MAX_LINE
}

fn first_line(file: &mut File) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(0))?;
    let mut first = Vec::new();
    BufReader::new(file.take(MAX_LINE)).read_until(b'\n', &mut first)?;
    Ok(first)
}
