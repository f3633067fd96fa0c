//! What Codex's error messages mean.

use fleet_core::run::Reason;

use crate::adapter::Failure;
use crate::common::{refusal, trouble, words};
use crate::event::When;

/// What only Codex and its provider say. The first that occurs decides.
const WORDS: &[(&str, Reason)] = &[
    ("exceeded your current quota", Reason::QuotaExhausted),
    ("quota exceeded", Reason::QuotaExhausted),
    ("upgrade to plus", Reason::QuotaExhausted),
    ("spend cap", Reason::QuotaExhausted),
    ("missing environment variable", Reason::Auth),
    // A guard in front of the provider, which lets through what it stopped a minute ago.
    ("cloudflare", Reason::ProviderOutage),
];

/// What it also says around more telling words.
const VAGUE: &[(&str, Reason)] =
    &[("stream disconnected", Reason::ProviderOutage), ("connection failed", Reason::ProviderOutage)];

/// What precedes a span after which it is worth trying again. A time of day (`try again at 10:00 AM`) is not read:
/// it is in the time zone of whoever runs Codex, and without a date.
const AGAIN: &[&str] = &["try again in ", "retry after ", "retry in "];

/// The failure that a message tells of.
pub(super) fn failure_of(message: &str) -> Failure {
    let until = trouble::span_after(message, AGAIN).map(When::After);
    Failure { until, ..Failure::new(reason(message), words::trouble(message)) }
}

fn reason(message: &str) -> Reason {
    // The way by WebSocket is tried first and given up for HTTP, so its errors say nothing about the account or the
    // model.
    let (said, url) = message.split_once(", url: ").unwrap_or((message, ""));
    if url.starts_with("ws:") || url.starts_with("wss:") {
        return Reason::ProviderOutage;
    }
    let told = trouble::first_of(said, WORDS)
        .or_else(|| refusal::by_words(said))
        .or_else(|| trouble::first_of(said, VAGUE));
    trouble::by_both(status(said), told).unwrap_or(Reason::AgentError)
}

fn status(said: &str) -> Option<u64> {
    ["unexpected status ", "last status: "].iter().find_map(|words| trouble::number_after(said, words))
}

/// A notice that Codex tries again: `Reconnecting... 2/5 (why)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Again<'a> {
    /// The attempt, unless it waits for the network, which it does without end.
    pub(super) attempt: Option<u32>,
    /// Why.
    pub(super) why: &'a str,
}

impl<'a> Again<'a> {
    /// The notice in a message, if it is one.
    pub(super) fn read(message: &'a str) -> Option<Self> {
        let rest = message.strip_prefix("Reconnecting...")?.trim_start();
        let attempt = rest.split_once('/').and_then(|(attempt, _)| attempt.parse().ok());
        let why = rest.split_once('(').map_or(rest, |(_, why)| why.strip_suffix(')').unwrap_or(why));
        Some(Self { attempt, why })
    }
}
