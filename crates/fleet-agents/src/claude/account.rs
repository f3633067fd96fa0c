//! Counting tokens and money of one process, nothing twice.
//!
//! Claude Code tells the numbers three times, and each time leaves something out: lines of messages have what was read
//! but not what was written; `usage` of a result knows nothing of subagents, nor of the last request when a limit
//! ended the turn; `modelUsage` forgets a stream that broke off. All three are about the same requests, so the largest
//! of them is nearest to the truth and never too much.

use std::collections::VecDeque;

use serde_json::Value;

use crate::common::json::{micro_usd, number};
use crate::event::{AgentEvent, Counted, Meter, Tokens};

/// Messages whose further lines may still come: more than there are subagents at a time.
const MOST_OPEN_MESSAGES: usize = 64;

/// How far apart two roundings of the same money can be, with a few models.
const ROUNDING: u64 = 8;

/// Longer ones are no ids.
const LONGEST_ID: usize = 256;

/// The habits in which the two relatives differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Habit {
    /// Claude Code: tokens of a result are those of the turn, and cached ones are not in the input.
    PerTurn,
    /// Qwen Code: they are those of the whole conversation, and cached ones are in the input, too.
    PerConversation,
}

/// What was counted so far.
#[derive(Debug)]
pub(super) struct Account {
    habit: Habit,
    /// What the agent's own counters stand at.
    meter: Meter,
    /// What was reported since the last result.
    open: Tokens,
    /// The messages that this is from.
    messages: VecDeque<(String, Tokens)>,
}

impl Account {
    pub(super) fn new(habit: Habit, meter: Meter) -> Self {
        Self { habit, meter, open: Tokens::default(), messages: VecDeque::new() }
    }

    pub(super) const fn meter(&self) -> Meter {
        self.meter
    }

    /// A line of a message of the model. One message has several, all with the same numbers.
    pub(super) fn message(&mut self, message: &Value) -> Option<AgentEvent> {
        let id = message.get("id")?.as_str().filter(|id| id.len() <= LONGEST_ID)?;
        let now = self.read(message.get("usage")?);
        let known = self.messages.iter_mut().find(|(known, _)| known == id);
        let before = if let Some((_, known)) = known {
            std::mem::replace(known, largest(*known, now))
        } else {
            self.messages.truncate(MOST_OPEN_MESSAGES - 1);
            self.messages.push_front((id.to_owned(), now));
            Tokens::default()
        };
        let new = less(now, before);
        self.open = sum(self.open, new);
        usage(new)
    }

    /// The end of a turn: what was not counted yet.
    pub(super) fn result(&mut self, result: &Value) -> Vec<AgentEvent> {
        let told = self.turn(result);
        let tokens = usage(less(told, self.open));
        self.open = Tokens::default();
        self.messages.clear();
        let spent = self.spent(result);
        let cost = AgentEvent::Cost { micro_usd: spent, counted: Counted::Delta };
        tokens.into_iter().chain((spent > 0).then_some(cost)).collect()
    }

    fn turn(&mut self, result: &Value) -> Tokens {
        let usage = result.get("usage").map(|usage| self.read(usage)).unwrap_or_default();
        if self.habit == Habit::PerConversation {
            let before = std::mem::replace(&mut self.meter.tokens, usage);
            // Less than before: it counts from the beginning again.
            let goes_on = less(before, usage) == Tokens::default();
            return if goes_on { less(usage, before) } else { usage };
        }
        if let Some(models) = result.get("modelUsage") {
            self.meter.tokens = by_model(models);
        }
        let models = result.get("model_usage_since_last_result").map(by_model).unwrap_or_default();
        largest(usage, models)
    }

    /// The total is that of the conversation, however many processes it had; newer versions also tell the difference.
    fn spent(&mut self, result: &Value) -> u64 {
        let Some(total) = micro_usd(result, "total_cost_usd") else { return 0 };
        let before = std::mem::replace(&mut self.meter.micro_usd, total);
        let Some(models) = result.get("model_usage_since_last_result").and_then(Value::as_object) else {
            // Less than before: it counts from the beginning again.
            return total.checked_sub(before).unwrap_or(total);
        };
        let spent = models.values().filter_map(|model| micro_usd(model, "costUSD"));
        let spent = spent.fold(0, u64::saturating_add);
        // Both are rounded. Where they mean the same, differences of totals are what adds up.
        let difference = total.saturating_sub(before);
        if difference.abs_diff(spent) <= ROUNDING { difference } else { spent }
    }

    fn read(&self, usage: &Value) -> Tokens {
        let count = |key| number(usage, key).unwrap_or(0);
        let cache_read = count("cache_read_input_tokens");
        let input = count("input_tokens");
        Tokens {
            input: if self.habit == Habit::PerTurn { input } else { input.saturating_sub(cache_read) },
            output: count("output_tokens"),
            cache_read,
            cache_write: count("cache_creation_input_tokens"),
        }
    }
}

fn by_model(models: &Value) -> Tokens {
    let models = models.as_object().into_iter().flat_map(|models| models.values());
    models.fold(Tokens::default(), |all, model| {
        let count = |key| number(model, key).unwrap_or(0);
        let one = Tokens {
            input: count("inputTokens"),
            output: count("outputTokens"),
            cache_read: count("cacheReadInputTokens"),
            cache_write: count("cacheCreationInputTokens"),
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

fn less(a: Tokens, b: Tokens) -> Tokens {
    each(a, b, u64::saturating_sub)
}

fn largest(a: Tokens, b: Tokens) -> Tokens {
    each(a, b, u64::max)
}
