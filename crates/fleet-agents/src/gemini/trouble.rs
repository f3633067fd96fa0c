//! What the error messages and exit statuses of Gemini CLI mean.

use fleet_core::outcome::AgentExit;
use fleet_core::run::Reason;

use crate::adapter::AgentFailure;
use crate::common::refusal::{self, Words};
use crate::common::{ansi, json, reset, words};

/// Phrases that only Gemini CLI and its provider use.
const WORDS: &Words = &[
    (
        Reason::Auth,
        &[
            "api key not valid",
            "api_key_invalid",
            "invalid auth method",
            "set an auth method",
            "validation_required",
        ],
    ),
    (
        Reason::QuotaExhausted,
        &["quota will reset", "daily quota", "perday", "exhausted your capacity", "credits_balance"],
    ),
    // A limit per minute: for an empty account Google adds the words above.
    (Reason::RateLimited, &["exceeded your current quota", "quota exceeded"]),
    (Reason::BadModel, &["is not found for api version", "modelnotfounderror"]),
    (Reason::ProviderOutage, &["no capacity available"]),
];

/// What precedes an HTTP status.
const STATUS: &[&str] = &["\"code\":", "with status "];

const RETRY_AFTER: &[&str] =
    &["Suggested retry after ", "Please retry in ", "reset after ", "\"retryDelay\":\""];

pub(super) fn failure_of(message: &str) -> AgentFailure {
    let (said, hint) = parts(message);
    let status = refusal::status_after(said, STATUS);
    let reason = refusal::reason(status, said, WORDS).unwrap_or(Reason::AgentError);
    let until = reset::in_words(said, RETRY_AFTER);
    AgentFailure { until, ..AgentFailure::new(reason, words::trouble(&format!("{}{hint}", plain(said)))) }
}

/// The provider's message, and the advice of Gemini CLI, which mentions signing in whatever went wrong.
fn parts(message: &str) -> (&str, &str) {
    match message.strip_prefix("[API Error: ") {
        Some(rest) => rest.rsplit_once(']').unwrap_or((rest, "")),
        None => (message, ""),
    }
}

/// The sentence that is meant for people: the provider's answer may be JSON.
fn plain(said: &str) -> String {
    let answer = json::object(said.as_bytes());
    let sentence = answer.as_ref().and_then(|answer| json::text(&answer["error"], "message"));
    ansi::plain(sentence.unwrap_or(said)).into_owned()
}

/// What its exit status says: some have a meaning, and others are an HTTP status of which only one byte is left.
pub(super) fn by_exit(exit: &AgentExit) -> Option<Reason> {
    let AgentExit::Code(code) = exit else { return None };
    match code {
        41 => Some(Reason::Auth),
        code => u64::try_from(code.checked_add(256)?)
            .ok()
            .filter(|status| (400..512).contains(status))
            .and_then(refusal::by_status),
    }
}
