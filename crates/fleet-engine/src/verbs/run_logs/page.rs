//! Pages of a log.

use std::sync::{Mutex, PoisonError};

use fleet_api::Bytes;
use fleet_api::verbs::run_logs::{OutputPiece, Request};
use fleet_core::event::AgentEvent;
use fleet_host::log::{self, LogReader};

use super::RunLog;
use super::decode::Decoded;
use crate::verbs::prelude::*;

/// The size of a page in bytes of the log, or a little more.
const PAGE_BYTES: u64 = 1 << 20;
/// At most this many logs that are read page by page are remembered.
const MAX_OPEN: usize = 16;

/// Logs that a caller reads page by page, decoded up to its last page: what a line means can depend on all before it,
/// and not every page should be decoded from the beginning.
#[derive(Default)]
pub(crate) struct OpenLogs(Mutex<Vec<OpenPage>>);

pub(super) struct OpenPage {
    decoded: Decoded,
    given: u64,
}

impl OpenLogs {
    fn take(&self, log: &RunLog, given: u64) -> Option<OpenPage> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of = (log.run.id, log.stream);
        let at = all.iter().position(|open| open.given == given && open.decoded.of() == of)?;
        Some(all.remove(at))
    }

    fn put(&self, open: OpenPage) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(open);
        if all.len() > MAX_OPEN {
            all.remove(0);
        }
    }
}

/// A reader's position in a log.
pub(super) enum Reading {
    Raw { log: RunLog, reader: LogReader },
    Decoded { open: OpenPage, skip: u64 },
}

#[derive(Default)]
pub(super) struct Page {
    pub(super) entries: Vec<AgentEvent>,
    pub(super) pieces: Vec<OutputPiece>,
    pub(super) more: bool,
}

impl Page {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.pieces.is_empty()
    }
}

impl Reading {
    pub(super) fn begin(engine: &Engine, log: RunLog, request: &Request) -> Outcome<Self> {
        if request.raw {
            let reader = log.bytes(request.after, request.last_lines)?;
            return Ok(Self::Raw { log, reader });
        }
        let after = request.after.unwrap_or_default();
        Ok(match engine.open_logs().take(&log, after).filter(|_| after > 0) {
            Some(open) => Self::Decoded { open, skip: 0 },
            None => Self::Decoded { open: OpenPage { decoded: log.decoded(), given: 0 }, skip: after },
        })
    }

    /// The next page. `is_last` says that nothing will come after its end. Blocks.
    pub(super) fn page(&mut self, is_last: bool) -> Outcome<Page> {
        match self {
            Self::Raw { log, reader } => raw(log, reader),
            Self::Decoded { open, skip } => decoded(open, skip, is_last),
        }
    }

    pub(super) fn next(&self) -> u64 {
        match self {
            Self::Raw { reader, .. } => reader.position(),
            Self::Decoded { open, .. } => open.given,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Raw { reader, .. } => reader.position() == 0,
            Self::Decoded { open, .. } => open.decoded.is_empty(),
        }
    }

    /// Remembers it for the next page, unless it came to its end.
    pub(super) fn keep(self, engine: &Engine, is_finished: bool) {
        if let (Self::Decoded { open, .. }, false) = (self, is_finished) {
            engine.open_logs().put(open);
        }
    }
}

fn raw(log: &RunLog, reader: &mut LogReader) -> Outcome<Page> {
    let (begin, mut page) = (reader.position(), Page::default());
    while let Some(piece) = log.piece(reader)? {
        page.pieces.push(match piece {
            log::LogPiece::Bytes { bytes, .. } => OutputPiece::Bytes(Bytes(bytes)),
            log::LogPiece::Gap { left_out, .. } => OutputPiece::Gap(left_out),
        });
        if reader.position() - begin >= PAGE_BYTES {
            page.more = true;
            break;
        }
    }
    Ok(page)
}

fn decoded(open: &mut OpenPage, skip: &mut u64, is_last: bool) -> Outcome<Page> {
    let (mut begin, mut page) = (open.decoded.position(), Page::default());
    while let Some(entries) = open.decoded.entries()? {
        take(entries, open, skip, &mut page);
        // Skipped entries do not make a page.
        if *skip > 0 {
            begin = open.decoded.position();
        }
        if open.decoded.position() - begin >= PAGE_BYTES {
            page.more = true;
            return Ok(page);
        }
    }
    if is_last {
        let rest = open.decoded.finish();
        take(rest, open, skip, &mut page);
    }
    Ok(page)
}

fn take(entries: Vec<AgentEvent>, open: &mut OpenPage, skip: &mut u64, page: &mut Page) {
    open.given += entries.len() as u64;
    let skipped = (*skip).min(entries.len() as u64);
    *skip -= skipped;
    page.entries.extend(entries.into_iter().skip(usize::try_from(skipped).unwrap_or(usize::MAX)));
}
