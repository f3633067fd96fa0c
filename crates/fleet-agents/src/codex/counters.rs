//! The counters of a conversation with Codex.

use fleet_core::event::{AgentEvent, Counted, Tokens};
use fleet_core::run::Meter;
use serde_json::Value;

use crate::adapter::ContextReading;
use crate::common::json::{count, number};

#[derive(Debug)]
pub(super) struct Counters {
    /// Where they stood before this process.
    before: Meter,
    now: Option<Meter>,
    context: Option<ContextReading>,
}

impl Counters {
    pub(super) const fn new(before: Meter) -> Self {
        Self { before, now: None, context: None }
    }

    pub(super) const fn now(&self) -> Option<Meter> {
        self.now
    }

    pub(super) const fn context(&self) -> Option<ContextReading> {
        self.context
    }

    /// What the record says about the last request.
    pub(super) fn requested(&mut self, info: &Value) {
        let read = info.get("last_token_usage").map(tokens).and_then(ContextReading::of_request);
        let limit = number(info, "model_context_window");
        self.context = read.map(|read| ContextReading { limit, ..read }).or(self.context);
    }

    /// The counters are those of the whole conversation, earlier processes included.
    pub(super) fn used(&mut self, usage: &Value) -> AgentEvent {
        let now = tokens(usage);
        self.now = Some(Meter { tokens: now, micro_usd: 0 });
        AgentEvent::Usage { tokens: since(self.before.tokens, now), counted: Counted::Total }
    }
}

/// Codex counts cached tokens as read ones, too, and thinking as written.
fn tokens(usage: &Value) -> Tokens {
    let cache_read = count(usage, "cached_input_tokens");
    let cache_write = count(usage, "cache_write_input_tokens");
    let input = count(usage, "input_tokens").saturating_sub(cache_read).saturating_sub(cache_write);
    Tokens { input, output: count(usage, "output_tokens"), cache_read, cache_write }
}

/// The difference of two counters. Counters that went down were restarted, so they count from there.
fn since(before: Tokens, now: Tokens) -> Tokens {
    let newer = || {
        Some(Tokens {
            input: now.input.checked_sub(before.input)?,
            output: now.output.checked_sub(before.output)?,
            cache_read: now.cache_read.checked_sub(before.cache_read)?,
            cache_write: now.cache_write.checked_sub(before.cache_write)?,
        })
    };
    newer().unwrap_or(now)
}
