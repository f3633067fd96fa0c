//! The agent's messages and thoughts, joined from their pieces.

use fleet_core::event::AgentEvent;

use crate::common::words::{self, LONGEST_FINAL};

/// Long enough to be worth its own event at the next end of a line.
const FLUSH_AT_LINE_END_BYTES: usize = 1024;
/// Reported even in the middle of a line.
const MAX_PENDING_BYTES: usize = 16 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpeechKind {
    Said,
    Thought,
}

/// Text that is not reported yet, and the whole last message.
#[derive(Debug, Default)]
pub(super) struct Speech {
    pending: String,
    kind: Option<SpeechKind>,
    /// The message that the pieces belong to, if the agent says so.
    id: Option<String>,
    last: String,
    /// Something else came in between: the next piece begins a new message.
    is_over: bool,
}

impl Speech {
    pub(super) fn piece(&mut self, kind: SpeechKind, id: Option<&str>, text: &str) -> Vec<AgentEvent> {
        let mut events = Vec::new();
        let id = id.map(words::id);
        let is_other = id.is_some() && self.id != id;
        if self.kind != Some(kind) || is_other {
            events.extend(self.flush());
        }
        if kind == SpeechKind::Said {
            if self.is_over || is_other {
                self.last.clear();
            }
            self.is_over = false;
            let room = LONGEST_FINAL.saturating_sub(self.last.len());
            self.last.push_str(&text[..text.floor_char_boundary(room)]);
        }
        self.kind = Some(kind);
        self.id = id;
        self.pending.push_str(text);
        let is_line = self.pending.len() >= FLUSH_AT_LINE_END_BYTES && self.pending.ends_with('\n');
        if is_line || self.pending.len() >= MAX_PENDING_BYTES {
            events.extend(self.event());
        }
        events
    }

    /// Something else happened: reports what was said so far.
    pub(super) fn flush(&mut self) -> Option<AgentEvent> {
        if self.kind == Some(SpeechKind::Said) {
            self.is_over = true;
        }
        self.event()
    }

    fn event(&mut self) -> Option<AgentEvent> {
        let text = std::mem::take(&mut self.pending);
        if text.trim().is_empty() {
            return None;
        }
        let text = words::said(&text);
        Some(match self.kind? {
            SpeechKind::Said => AgentEvent::Text { text },
            SpeechKind::Thought => AgentEvent::Reasoning { text },
        })
    }

    pub(super) fn last(&self) -> Option<&str> {
        let last = self.last.trim();
        (!last.is_empty()).then_some(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> AgentEvent {
        AgentEvent::Text { text: text.to_owned() }
    }

    #[test]
    fn pieces_become_messages() {
        let mut speech = Speech::default();
        assert_eq!(speech.piece(SpeechKind::Said, None, "I will "), []);
        assert_eq!(speech.piece(SpeechKind::Said, None, "write."), []);
        assert_eq!(speech.piece(SpeechKind::Thought, None, "Hm"), [text("I will write.")]);
        assert_eq!(speech.flush(), Some(AgentEvent::Reasoning { text: "Hm".to_owned() }));
        assert_eq!(speech.flush(), None);
        speech.piece(SpeechKind::Said, None, "Done.");
        speech.piece(SpeechKind::Said, None, " ");
        assert_eq!(speech.last(), Some("Done."), "a new message, because it thought in between");
        assert_eq!(speech.flush(), Some(text("Done. ")));
        speech.piece(SpeechKind::Said, Some("a"), "one");
        assert_eq!(speech.piece(SpeechKind::Said, Some("b"), "two"), [text("one")]);
        assert_eq!(speech.last(), Some("two"));
    }

    #[test]
    fn a_long_message_is_told_in_parts_and_kept_in_bounds() {
        let mut speech = Speech::default();
        let line = format!("{}\n", "é".repeat(600));
        assert_eq!(speech.piece(SpeechKind::Said, None, &line), [text(&line)]);
        for _ in 0..1000 {
            assert!(speech.piece(SpeechKind::Said, None, &line).len() < 2);
        }
        assert!(speech.last().unwrap().len() <= LONGEST_FINAL && speech.pending.is_empty());
        let events = speech.piece(SpeechKind::Said, None, &"x".repeat(MAX_PENDING_BYTES));
        assert_eq!(events.len(), 1);
    }
}
