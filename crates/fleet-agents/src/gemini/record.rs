//! What Gemini CLI writes down about a conversation: the only place that tells what was used before the end of a turn.

use fleet_core::event::{AgentEvent, Counted, Tokens};
use serde_json::Value;

use crate::adapter::ContextReading;
use crate::common::json::{count, object, text};
use crate::common::recent::Recent;
use crate::common::words;

/// A message is written again when more of it is known, before the one after the next begins.
const MAX_MESSAGES: usize = 16;

/// Adds up the messages of this process.
#[derive(Debug)]
pub(super) struct Messages {
    counted: Recent<()>,
    sum: Tokens,
    context: Option<ContextReading>,
}

impl Default for Messages {
    fn default() -> Self {
        Self { counted: Recent::new(MAX_MESSAGES), sum: Tokens::default(), context: None }
    }
}

impl Messages {
    pub(super) const fn context(&self) -> Option<ContextReading> {
        self.context
    }

    pub(super) fn line(&mut self, line: &[u8]) -> Vec<AgentEvent> {
        object(line).map(|message| self.read(&message)).unwrap_or_default()
    }

    pub(super) fn read(&mut self, message: &Value) -> Vec<AgentEvent> {
        if text(message, "type") != Some("gemini") {
            return Vec::new();
        }
        let (Some(id), Some(tokens)) = (text(message, "id"), message.get("tokens")) else {
            return Vec::new();
        };
        if self.counted.contains(id) {
            return Vec::new();
        }
        self.counted.add(id, ());
        let tokens = read(tokens);
        self.context = ContextReading::of_request(tokens).or(self.context);
        self.sum = self.sum.then(tokens, Counted::Delta);
        let model = text(message, "model").map(|model| AgentEvent::Model { model: words::id(model) });
        model.into_iter().chain([AgentEvent::Usage { tokens: self.sum, counted: Counted::Total }]).collect()
    }
}

/// What was read from the cache is a part of the input, and thoughts stand beside the output.
fn read(tokens: &Value) -> Tokens {
    let cache_read = count(tokens, "cached");
    let input = count(tokens, "input").saturating_add(count(tokens, "tool"));
    Tokens {
        input: input.saturating_sub(cache_read),
        output: count(tokens, "output").saturating_add(count(tokens, "thoughts")),
        cache_read,
        cache_write: 0,
    }
}
