//! The decoder of an agent in a terminal: the common part, and what each agent adds to it.

use fleet_core::event::{AgentEvent, Stream};
use fleet_core::outcome::AgentExit;
use fleet_core::run::{AgentState, Meter, Reason};
use serde_json::Value;

use super::activity::Activity;
use super::rules::ScreenRules;
use crate::adapter::{AgentFailure, Conversation, Decoder, PermissionAnswer};
use crate::common::json::object;
use crate::common::words::{self, one_line};

/// A longer payload of a hook is not read. It holds a whole prompt at most, or a file that was written.
const LONGEST_HOOK: usize = 8 * 1024 * 1024;

/// What is known of an agent in a terminal.
#[derive(Debug)]
pub(crate) struct TerminalSession {
    rules: Option<&'static ScreenRules>,
    activity: Activity,
    session: Option<String>,
    /// The id that it was started with, until it is known to have started.
    own_session: Option<String>,
    final_text: Option<String>,
    /// What ended the last turn, unless it went well.
    trouble: Option<AgentFailure>,
    /// The last line of the screen that is not empty: all there is when it ends before it took a prompt.
    last_line: String,
}

impl TerminalSession {
    fn new(rules: Option<&'static ScreenRules>) -> Self {
        Self {
            rules,
            activity: Activity::default(),
            session: None,
            own_session: None,
            final_text: None,
            trouble: None,
            last_line: String::new(),
        }
    }

    /// The conversation has this id.
    pub(crate) fn started(&mut self, session: &str) -> Option<AgentEvent> {
        let session = words::id(session);
        if session.is_empty() || self.session.as_ref() == Some(&session) {
            return None;
        }
        self.session = Some(session.clone());
        Some(AgentEvent::SessionStarted { session })
    }

    /// A hook or the record says what it is doing.
    pub(crate) fn state(&mut self, state: AgentState, text: &str, evidence: &str) -> Option<AgentEvent> {
        self.activity.told(state, text, evidence)
    }

    /// It got a prompt, and works on it.
    pub(crate) fn prompted(&mut self, text: &str, evidence: &str) -> Vec<AgentEvent> {
        self.trouble = None;
        let prompted = AgentEvent::Prompted { text: text.to_owned() };
        [prompted].into_iter().chain(self.state(AgentState::Working, "", evidence)).collect()
    }

    /// Its turn is over.
    pub(crate) fn turn_ended(&mut self, text: Option<&str>, evidence: &str) -> Option<AgentEvent> {
        self.final_text = text.map(words::last).or(self.final_text.take());
        self.trouble = None;
        self.state(AgentState::Idle, "", evidence)
    }

    /// Something ended its turn, or will.
    pub(crate) fn failed(&mut self, failure: AgentFailure) -> Vec<AgentEvent> {
        let is_known = self.trouble.as_ref().is_some_and(|known| known.reason == failure.reason);
        let told = if is_known { Vec::new() } else { failure.events() };
        self.trouble = Some(failure);
        told
    }

    /// Its turn is over because of a failure.
    pub(crate) fn turn_failed(&mut self, failure: AgentFailure, evidence: &str) -> Vec<AgentEvent> {
        let told = self.failed(failure);
        told.into_iter().chain(self.state(AgentState::Idle, "", evidence)).collect()
    }

    pub(crate) fn said(&mut self, text: &str) {
        self.final_text = Some(words::last(text));
    }

    pub(crate) const fn has_hooks(&self) -> bool {
        self.activity.has_hooks()
    }

    fn screen(&mut self, lines: &[String]) -> Vec<AgentEvent> {
        if let Some(last) = lines.iter().rev().map(|line| one_line(line)).find(|line| !line.is_empty()) {
            self.last_line = last;
        }
        let sight = self.rules.and_then(|rules| rules.sight(lines));
        let is_ready = sight.as_ref().is_some_and(|sight| sight.state == AgentState::Idle);
        let own = self.own_session.take_if(|_| is_ready).and_then(|session| self.started(&session));
        own.into_iter().chain(self.activity.seen(sight)).collect()
    }

    fn end(&mut self, exit: &AgentExit) {
        if self.trouble.is_some() || matches!(exit, AgentExit::NotStarted(_)) {
            return;
        }
        let is_idle = self.activity.known() == Some(AgentState::Idle);
        if !is_idle {
            let when =
                if self.activity.known().is_some() { "in the middle of a turn" } else { "at its start" };
            let words = format!("{exit} {when}; its screen ended with: {}", self.last_line);
            self.trouble = Some(AgentFailure::new(Reason::AgentError, words::trouble(&words)));
        }
    }
}

/// What one agent tells beside its screen.
pub(crate) trait TerminalReader: Send {
    /// What a hook of it was called with.
    fn hook(&mut self, hook: &Value, session: &mut TerminalSession) -> Vec<AgentEvent>;

    /// A line of its own record of the conversation.
    fn record(&mut self, line: &Value, session: &mut TerminalSession) -> Vec<AgentEvent> {
        let _ = (line, session);
        Vec::new()
    }

    fn meter(&self) -> Option<Meter> {
        None
    }
}

pub(crate) struct TerminalDecoder<R> {
    session: TerminalSession,
    reader: R,
}

impl<R: TerminalReader> TerminalDecoder<R> {
    pub(crate) fn new(rules: Option<&'static ScreenRules>, reader: R) -> Self {
        Self { session: TerminalSession::new(rules), reader }
    }

    /// For agents that take the id of a conversation from us, and may have no hook that tells it.
    pub(crate) fn in_conversation(mut self, conversation: &Conversation<'_>) -> Self {
        let id = match *conversation {
            Conversation::New { id } => id,
            Conversation::Resume { session, .. } => Some(session),
        };
        self.session.own_session = id.map(ToOwned::to_owned);
        self
    }
}

impl<R: TerminalReader> Decoder for TerminalDecoder<R> {
    /// What a terminal gets is for its screen.
    fn line(&mut self, _: Stream, _: &[u8], _: bool) -> Vec<AgentEvent> {
        Vec::new()
    }

    fn record(&mut self, line: &[u8]) -> Vec<AgentEvent> {
        object(line).map(|line| self.reader.record(&line, &mut self.session)).unwrap_or_default()
    }

    fn hook(&mut self, payload: &[u8]) -> Vec<AgentEvent> {
        let payload = Some(payload).filter(|payload| payload.len() <= LONGEST_HOOK);
        payload.and_then(object).map(|hook| self.reader.hook(&hook, &mut self.session)).unwrap_or_default()
    }

    fn screen(&mut self, lines: &[String]) -> Vec<AgentEvent> {
        self.session.screen(lines)
    }

    fn permission_keys(&self, answer: PermissionAnswer, lines: &[String]) -> Option<Vec<u8>> {
        self.session.rules?.keys(answer, lines)
    }

    fn shows_dialog(&self, lines: &[String]) -> bool {
        let sight = self.session.rules.and_then(|rules| rules.sight(lines));
        sight.is_some_and(|sight| sight.state.needs_person())
    }

    fn tells_prompts(&self) -> bool {
        true
    }

    fn shows_empty_input(&self, lines: &[String]) -> bool {
        self.session.rules.is_some_and(|rules| rules.shows_empty_input(lines))
    }

    fn start_keys(&self, lines: &[String]) -> Option<Vec<u8>> {
        // A conversation may show the words of such a dialog later.
        let rules = self.session.rules.filter(|_| self.session.session.is_none())?;
        rules.start_keys(lines)
    }

    fn end(&mut self, exit: &AgentExit) -> Vec<AgentEvent> {
        self.session.end(exit);
        Vec::new()
    }

    fn final_text(&self) -> Option<&str> {
        self.session.final_text.as_deref()
    }

    fn meter(&self) -> Option<Meter> {
        self.reader.meter()
    }

    fn failure(&self) -> Option<AgentFailure> {
        self.session.trouble.clone()
    }
}
