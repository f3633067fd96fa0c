//! Counting tokens and money of one process, nothing twice.
//!
//! Claude Code reports the numbers three times, and each time leaves something out: lines of messages have what was
//! read but not what was written; `usage` of a result knows nothing of subagents, nor of the last request when a limit
//! ended the turn; `modelUsage` forgets a stream that broke off. All three are about the same requests, so the largest
//! of them is nearest to the truth and never too much.

use fleet_core::event::{AgentEvent, Counted, Tokens};
use fleet_core::run::Meter;
use serde_json::Value;

use crate::adapter::ContextReading;
use crate::common::amount::micro_usd;
use crate::common::json::{count, fraction, text};
use crate::common::recent::Recent;

/// Messages whose further lines may still come: more than there are subagents at a time.
const MAX_OPEN_MESSAGES: usize = 64;

/// How far apart two roundings of the same money can be, with a few models.
const MAX_ROUNDING_ERROR: u64 = 8;

/// Tokens and money counted so far.
#[derive(Debug)]
pub(super) struct Account {
    /// The state of the agent's own counters.
    meter: Meter,
    /// What was reported since the last result.
    open: Tokens,
    /// The messages that `open` counts.
    messages: Recent<Tokens>,
    context: Option<ContextReading>,
}

impl Account {
    pub(super) fn new(meter: Meter) -> Self {
        Self { meter, open: Tokens::default(), messages: Recent::new(MAX_OPEN_MESSAGES), context: None }
    }

    pub(super) const fn meter(&self) -> Meter {
        self.meter
    }

    /// A line of a message of the model. One message has several, all with the same numbers.
    pub(super) fn message(&mut self, message: &Value) -> Option<AgentEvent> {
        let id = text(message, "id")?;
        let now = read(message.get("usage")?);
        let known = self.messages.entry(id, Tokens::default);
        let before = std::mem::replace(known, largest(*known, now));
        let new = now.less(before);
        self.open = sum(self.open, new);
        usage(new)
    }

    /// A message of the main conversation: what its request read is how long that is.
    pub(super) fn main_message(&mut self, message: &Value) {
        let read = message.get("usage").map(read).and_then(ContextReading::of_request);
        self.context = read.or(self.context);
    }

    pub(super) const fn context(&self) -> Option<ContextReading> {
        self.context
    }

    /// The end of a turn: counts the rest.
    pub(super) fn result(&mut self, result: &Value) -> Vec<AgentEvent> {
        let told = self.turn(result);
        let tokens = usage(told.less(self.open));
        self.open = Tokens::default();
        self.messages.clear();
        let spent = self.spent(result);
        let cost = AgentEvent::Cost { micro_usd: spent, counted: Counted::Delta };
        tokens.into_iter().chain((spent > 0).then_some(cost)).collect()
    }

    fn turn(&mut self, result: &Value) -> Tokens {
        let usage = read(&result["usage"]);
        if let Some(models) = result.get("modelUsage") {
            self.meter.tokens = by_model(models);
        }
        let models = result.get("model_usage_since_last_result").map(by_model).unwrap_or_default();
        largest(usage, models)
    }

    /// The total is that of the conversation, however many processes it had; newer versions also tell the difference.
    fn spent(&mut self, result: &Value) -> u64 {
        let Some(total) = dollars(result, "total_cost_usd") else { return 0 };
        let before = std::mem::replace(&mut self.meter.micro_usd, total);
        let Some(models) = result.get("model_usage_since_last_result").and_then(Value::as_object) else {
            // Less than before: it counts from the beginning again.
            return total.checked_sub(before).unwrap_or(total);
        };
        let spent = models.values().filter_map(|model| dollars(model, "costUSD"));
        let spent = spent.fold(0, u64::saturating_add);
        // Both are rounded. Where they mean the same, differences of totals are what adds up.
        let difference = total.saturating_sub(before);
        if difference.abs_diff(spent) <= MAX_ROUNDING_ERROR { difference } else { spent }
    }
}

fn dollars(value: &Value, key: &str) -> Option<u64> {
    fraction(value, key).and_then(micro_usd)
}

fn read(usage: &Value) -> Tokens {
    Tokens {
        input: count(usage, "input_tokens"),
        output: count(usage, "output_tokens"),
        cache_read: count(usage, "cache_read_input_tokens"),
        cache_write: count(usage, "cache_creation_input_tokens"),
    }
}

fn by_model(models: &Value) -> Tokens {
    let models = models.as_object().into_iter().flat_map(|models| models.values());
    models.fold(Tokens::default(), |all, model| {
        let one = Tokens {
            input: count(model, "inputTokens"),
            output: count(model, "outputTokens"),
            cache_read: count(model, "cacheReadInputTokens"),
            cache_write: count(model, "cacheCreationInputTokens"),
        };
        sum(all, one)
    })
}

fn usage(tokens: Tokens) -> Option<AgentEvent> {
    (tokens != Tokens::default()).then_some(AgentEvent::Usage { tokens, counted: Counted::Delta })
}

fn each(a: Tokens, b: Tokens, with: impl Fn(u64, u64) -> u64) -> Tokens {
    Tokens {
        input: with(a.input, b.input),
        output: with(a.output, b.output),
        cache_read: with(a.cache_read, b.cache_read),
        cache_write: with(a.cache_write, b.cache_write),
    }
}

fn sum(a: Tokens, b: Tokens) -> Tokens {
    each(a, b, u64::saturating_add)
}

fn largest(a: Tokens, b: Tokens) -> Tokens {
    each(a, b, u64::max)
}
