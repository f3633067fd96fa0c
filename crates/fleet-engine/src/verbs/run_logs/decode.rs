//! From the bytes of a log to what they mean.

use std::path::Path;

use fleet_agents::{AgentEvent, Brief, Conversation, Decoder};
use fleet_api::verbs::run_logs::LogStream;
use fleet_core::outcome::AgentExit;
use fleet_host::lines::{Line, LineSplitter};
use fleet_host::log::{LogPiece, LogReader};

use super::RunLog;
use crate::keeper::Talk;
use crate::keeper::journal::LONGEST_LINE;
use crate::verbs::prelude::*;

/// Reads a log piece by piece, from its beginning: what a line means can depend on those before it.
pub(crate) struct Decoded {
    log: RunLog,
    reader: LogReader,
    lines: LineSplitter,
    decoder: Option<Box<dyn Decoder>>,
}

impl RunLog {
    pub(in crate::verbs) fn decoded(self) -> Decoded {
        let decoder = if self.stream == LogStream::Out { self.decoder() } else { None };
        Decoded {
            reader: LogReader::new(&self.path),
            lines: LineSplitter::new(LONGEST_LINE),
            decoder,
            log: self,
        }
    }

    /// `None` for an agent that this version does not know: its lines are shown as they are.
    fn decoder(&self) -> Option<Box<dyn Decoder>> {
        let adapter = self.agents.find(&self.run.agent)?;
        let prompt = std::fs::read_to_string(&self.prompt).unwrap_or_default();
        let workspace = Path::new(self.run.workspace.as_deref().unwrap_or_default());
        let new = Conversation::New { id: None };
        let brief = Brief {
            conversation: self.talk.as_ref().map_or(new, Talk::conversation),
            prompt_file: &self.prompt,
            model: self.run.model.as_deref(),
            ..Brief::plain(&prompt, workspace)
        };
        Some(adapter.decoder(&brief))
    }
}

impl Decoded {
    /// Which run and which stream it is of.
    pub(super) fn of(&self) -> (RunId, LogStream) {
        (self.log.run.id, self.log.stream)
    }

    pub(super) fn position(&self) -> u64 {
        self.reader.position()
    }

    /// Whether nothing was ever printed, as far as it was read.
    pub(super) fn is_empty(&self) -> bool {
        self.reader.position() == 0
    }

    /// What comes next; `None` at the present end. A piece may hold no whole line, and so nothing to tell.
    pub(in crate::verbs) fn entries(&mut self) -> Outcome<Option<Vec<AgentEvent>>> {
        let mut entries = Vec::new();
        let decoder = &mut self.decoder;
        let mut each = |line: Line<'_>| decode(decoder, &line, &mut entries);
        match self.log.piece(&mut self.reader)? {
            None => return Ok(None),
            Some(LogPiece::Bytes { bytes, .. }) => self.lines.push(&bytes, &mut each),
            Some(LogPiece::Gap { offset, left_out }) => {
                self.lines.skip_to(offset + left_out, &mut each);
                entries.push(AgentEvent::Gap { bytes: left_out });
            }
        }
        Ok(Some(entries))
    }

    /// Nothing more will come: what is left of a last line, and what the decoder makes of the end.
    pub(in crate::verbs) fn finish(&mut self) -> Vec<AgentEvent> {
        let mut entries = Vec::new();
        let decoder = &mut self.decoder;
        self.lines.finish(&mut |line| decode(decoder, &line, &mut entries));
        if let (Some(decoder), Some(exit)) = (decoder, self.log.exit()) {
            entries.extend(decoder.end(exit).into_iter().filter(AgentEvent::is_logged));
        }
        entries
    }
}

impl RunLog {
    fn exit(&self) -> Option<&AgentExit> {
        self.result.as_ref().map(|result| &result.exit)
    }
}

/// The longest line that is shown of an agent that this version does not know; `--raw` has all of it.
const LONGEST_SHOWN: usize = 16 * 1024;

fn decode(decoder: &mut Option<Box<dyn Decoder>>, line: &Line<'_>, entries: &mut Vec<AgentEvent>) {
    if let Some(decoder) = decoder {
        let events = decoder.line(fleet_agents::Stream::Out, line.bytes, line.cut);
        entries.extend(events.into_iter().filter(AgentEvent::is_logged));
        return;
    }
    let kept = &line.bytes[..line.bytes.len().min(LONGEST_SHOWN)];
    let (text, cut) = (String::from_utf8_lossy(kept).into_owned(), line.cut || kept.len() < line.bytes.len());
    entries.push(AgentEvent::Raw { stream: fleet_agents::Stream::Out, text, cut });
}
