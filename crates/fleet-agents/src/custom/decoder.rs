//! Reads the output of an agent that the user describes.

use std::sync::Arc;

use fleet_core::event::{AgentEvent, Stream};
use fleet_core::outcome::AgentExit;
use fleet_core::run::{Meter, Reason};

use super::patterns::Finder;
use crate::adapter::{AgentFailure, ContextReading, Decoder};
use crate::common::ansi;
use crate::common::words::{self, LONGEST_FINAL, TextTail, one_line};

pub(super) struct CustomDecoder {
    /// What reads the output of the agent that this one is like; plain lines have none.
    inner: Option<Box<dyn Decoder>>,
    finder: Arc<Finder>,
    /// The id that we gave the conversation, until it was reported.
    own_session: Option<String>,
    session: Option<String>,
    /// The end of what it printed, in which a report may be.
    tail: TextTail,
    last_line: Option<String>,
    trouble: Option<AgentFailure>,
    is_well: bool,
}

impl CustomDecoder {
    pub(super) fn new(inner: Option<Box<dyn Decoder>>, finder: Arc<Finder>, session: Option<&str>) -> Self {
        Self {
            inner,
            finder,
            own_session: session.map(ToOwned::to_owned),
            session: None,
            tail: TextTail::new(LONGEST_FINAL),
            last_line: None,
            trouble: None,
            is_well: false,
        }
    }

    /// What the patterns find in a line.
    fn find(&mut self, line: &str) -> Vec<AgentEvent> {
        let mut events = Vec::new();
        if self.session.is_none() {
            let session = self.finder.session(line);
            events.extend(session.map(|session| AgentEvent::SessionStarted { session }));
        }
        events.extend(self.finder.usage(line));
        if let Some(failure) = self.finder.failure(line) {
            events.extend(failure.events());
            self.trouble = Some(failure);
        }
        events
    }

    /// A session that was reported before is not news: we may have set the id that the agent then reports.
    fn is_news(&mut self, event: &AgentEvent) -> bool {
        let AgentEvent::SessionStarted { session } = event else { return true };
        self.session.replace(session.clone()).is_none_or(|known| known != *session)
    }

    fn plain(&mut self, stream: Stream, line: &[u8], cut: bool) -> Vec<AgentEvent> {
        let lossy = String::from_utf8_lossy(line);
        let plain = ansi::plain(&lossy);
        let plain = plain.trim_end();
        let mut events = self.find(plain);
        if !plain.is_empty() {
            self.last_line = Some(one_line(plain));
        }
        match stream {
            Stream::Out => {
                self.tail.push(plain);
                if !plain.is_empty() {
                    events.push(AgentEvent::Text { text: words::said(plain) });
                }
            }
            Stream::Err if events.is_empty() => events.extend(AgentEvent::raw(stream, line, cut)),
            Stream::Err => {}
        }
        events
    }

    fn end_of_lines(&mut self, exit: &AgentExit) -> Vec<AgentEvent> {
        if self.is_well {
            return vec![AgentEvent::Ended { text: self.final_text().map(ToOwned::to_owned) }];
        }
        if self.trouble.is_none() {
            let why =
                self.last_line.as_ref().map_or_else(|| exit.to_string(), |line| format!("{exit}: {line}"));
            self.trouble = Some(AgentFailure::new(Reason::AgentError, why));
        }
        Vec::new()
    }
}

impl Decoder for CustomDecoder {
    fn line(&mut self, stream: Stream, line: &[u8], cut: bool) -> Vec<AgentEvent> {
        let own = self.own_session.take().map(|session| AgentEvent::SessionStarted { session });
        let events = match &mut self.inner {
            None => self.plain(stream, line, cut),
            Some(inner) => {
                let events = inner.line(stream, line, cut);
                // Only what it does not understand is left to the patterns.
                match &events[..] {
                    [AgentEvent::Raw { text, .. }] => {
                        let found = self.find(&ansi::plain(text));
                        if found.is_empty() { events } else { found }
                    }
                    _ => events,
                }
            }
        };
        own.into_iter().chain(events).filter(|event| self.is_news(event)).collect()
    }

    fn end(&mut self, exit: &AgentExit) -> Vec<AgentEvent> {
        self.is_well = exit.is_success();
        match &mut self.inner {
            Some(inner) => inner.end(exit),
            None if matches!(exit, AgentExit::NotStarted(_)) => Vec::new(),
            None => self.end_of_lines(exit),
        }
    }

    fn reply(&mut self) -> Vec<u8> {
        self.inner.as_mut().map(|inner| inner.reply()).unwrap_or_default()
    }

    fn prompt(&mut self, text: &str) -> bool {
        self.inner.as_mut().is_some_and(|inner| inner.prompt(text))
    }

    fn taken(&self) -> usize {
        self.inner.as_ref().map_or(0, |inner| inner.taken())
    }

    fn interrupt(&mut self) -> bool {
        self.inner.as_mut().is_some_and(|inner| inner.interrupt())
    }

    fn final_text(&self) -> Option<&str> {
        match &self.inner {
            Some(inner) => inner.final_text(),
            None => self.tail.some(),
        }
    }

    fn meter(&self) -> Option<Meter> {
        self.inner.as_ref().and_then(|inner| inner.meter())
    }

    fn context(&self) -> Option<ContextReading> {
        self.inner.as_ref().and_then(|inner| inner.context())
    }

    fn failure(&self) -> Option<AgentFailure> {
        // An agent that ended well got over its trouble.
        let found = self.trouble.as_ref().filter(|_| !self.is_well).cloned();
        let Some(inner) = &self.inner else { return found };
        let told = inner.failure();
        let is_vague = told.as_ref().is_none_or(|told| told.reason == Reason::AgentError);
        if is_vague { found.or(told) } else { told }
    }
}
