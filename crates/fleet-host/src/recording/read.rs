//! Reading a recording, of ours or of others.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;

use super::{MAX_LINE, Recorded, RecordedEvent};
use crate::{TerminalSize, plain};

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Header {
    version: u64,
    width: u16,
    height: u16,
    title: Option<String>,
}

impl Header {
    pub(super) fn parse(line: &[u8]) -> io::Result<Self> {
        let header: Self = serde_json::from_slice(line)?;
        if header.version == 2 {
            return Ok(header);
        }
        Err(invalid(&format!("recordings of version {} cannot be read, only of version 2", header.version)))
    }
}

/// The events of a recording. A last line that is cut off is left out; after an error there is no more.
#[derive(Debug)]
pub struct RecordingReader<R = BufReader<File>> {
    header: Header,
    input: R,
    has_failed: bool,
}

impl RecordingReader {
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::new(BufReader::new(plain::open(path)?))
    }
}

impl<R: BufRead> RecordingReader<R> {
    pub fn new(mut input: R) -> io::Result<Self> {
        let first = read_line(&mut input)?.ok_or_else(|| invalid("the recording is empty"))?;
        Ok(Self { header: Header::parse(&first)?, input, has_failed: false })
    }

    /// The size of the terminal at the beginning.
    pub fn size(&self) -> TerminalSize {
        TerminalSize::new(self.header.width, self.header.height)
    }

    /// As it was written: it may hold control characters.
    pub fn title(&self) -> Option<&str> {
        self.header.title.as_deref()
    }

    fn next_event(&mut self) -> io::Result<Option<RecordedEvent>> {
        while let Some(line) = read_line(&mut self.input)? {
            if let Some(event) = parse_event(&line)? {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }
}

impl<R: BufRead> Iterator for RecordingReader<R> {
    type Item = io::Result<RecordedEvent>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_failed {
            return None;
        }
        let event = self.next_event();
        self.has_failed = event.is_err();
        event.transpose()
    }
}

/// The next line that is complete.
fn read_line(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    input.take(MAX_LINE).read_until(b'\n', &mut line)?;
    if line.ends_with(b"\n") {
        return Ok(Some(line));
    }
    if line.len() as u64 == MAX_LINE {
        return Err(invalid("a line of the recording is too long"));
    }
    Ok(None)
}

/// `None` for blank lines and for kinds that do not matter here, such as input.
pub(super) fn parse_event(line: &[u8]) -> io::Result<Option<RecordedEvent>> {
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    let (time, kind, data): (f64, String, String) = serde_json::from_slice(line)?;
    let time = Duration::try_from_secs_f64(time).map_err(|error| invalid(&error.to_string()))?;
    let what = match kind.as_str() {
        "o" => Recorded::Output(data),
        "r" => Recorded::Resize(parse_size(&data)?),
        "m" => Recorded::Marker(data),
        _ => return Ok(None),
    };
    Ok(Some(RecordedEvent { time, what }))
}

fn parse_size(text: &str) -> io::Result<TerminalSize> {
    let size = text
        .split_once('x')
        .and_then(|(columns, rows)| Some(TerminalSize::new(columns.parse().ok()?, rows.parse().ok()?)));
    size.ok_or_else(|| invalid(&format!("{text:?} is not the size of a terminal")))
}

fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}
