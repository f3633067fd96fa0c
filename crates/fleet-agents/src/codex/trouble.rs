//! What Codex's error messages mean.

use fleet_core::run::Reason;

use crate::adapter::AgentFailure;
use crate::common::refusal::{self, Words};
use crate::common::{reset, words};

/// Phrases that only Codex and its provider use.
const WORDS: &Words = &[
    (
        Reason::QuotaExhausted,
        &["exceeded your current quota", "quota exceeded", "upgrade to plus", "spend cap"],
    ),
    (Reason::Auth, &["missing environment variable"]),
    // A filter in front of the provider, which may pass a minute later what it blocked.
    (Reason::ProviderOutage, &["cloudflare"]),
];

/// What precedes an HTTP status.
const STATUS: &[&str] = &["unexpected status ", "last status: "];

const RETRY_AFTER: &[&str] = &["try again in ", "retry after ", "retry in "];

pub(super) fn failure_of(message: &str) -> AgentFailure {
    let until = reset::in_words(message, RETRY_AFTER).or_else(|| reset::at_time(message, &["try again at "]));
    AgentFailure { until, ..AgentFailure::new(reason(message), words::trouble(message)) }
}

fn reason(message: &str) -> Reason {
    // Codex tries WebSocket first and falls back to HTTP, so its errors say nothing about the account or the model.
    let (said, url) = message.split_once(", url: ").unwrap_or((message, ""));
    if url.starts_with("ws:") || url.starts_with("wss:") {
        return Reason::ProviderOutage;
    }
    let status = refusal::status_after(said, STATUS);
    refusal::reason(status, said, WORDS).unwrap_or(Reason::AgentError)
}

/// A notice that Codex tries again: `Reconnecting... 2/5 (why)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RetryNotice<'a> {
    /// The attempt, unless it waits for the network, which it does without end.
    pub(super) attempt: Option<u32>,
    pub(super) why: &'a str,
}

impl<'a> RetryNotice<'a> {
    pub(super) fn read(message: &'a str) -> Option<Self> {
        let rest = message.strip_prefix("Reconnecting...")?.trim_start();
        let attempt = rest.split_once('/').and_then(|(attempt, _)| attempt.parse().ok());
        let why = rest.split_once('(').map_or(rest, |(_, why)| why.strip_suffix(')').unwrap_or(why));
        Some(Self { attempt, why })
    }
}
