//! What the error messages and exit statuses of Gemini CLI mean.

use fleet_core::outcome::AgentExit;
use fleet_core::run::Reason;

use crate::adapter::Failure;
use crate::common::{ansi, http, json, refusal, trouble, words};
use crate::event::When;

/// What only Gemini CLI and its provider say. The first that occurs decides.
const WORDS: &[(&str, Reason)] = &[
    ("api key not valid", Reason::Auth),
    ("api_key_invalid", Reason::Auth),
    ("invalid auth method", Reason::Auth),
    ("set an auth method", Reason::Auth),
    ("validation_required", Reason::Auth),
    ("quota will reset", Reason::QuotaExhausted),
    ("daily quota", Reason::QuotaExhausted),
    ("perday", Reason::QuotaExhausted),
    ("exhausted your capacity", Reason::QuotaExhausted),
    ("credits_balance", Reason::QuotaExhausted),
    // Of a minute: Google says the same of an empty account, but then with the words above.
    ("exceeded your current quota", Reason::RateLimited),
    ("quota exceeded", Reason::RateLimited),
    ("is not found for api version", Reason::BadModel),
    ("modelnotfounderror", Reason::BadModel),
    ("no capacity available", Reason::ProviderOutage),
];

/// What precedes the span after which it is worth trying again.
const AGAIN: &[&str] = &["Suggested retry after ", "Please retry in ", "reset after ", "\"retryDelay\":\""];

/// The failure that a message tells of.
pub(super) fn failure_of(message: &str) -> Failure {
    let (said, hint) = parts(message);
    let told = trouble::first_of(said, WORDS).or_else(|| refusal::by_words(said));
    let reason = trouble::by_both(status(said), told).unwrap_or(Reason::AgentError);
    let until = trouble::span_after(said, AGAIN).map(When::After);
    Failure { until, ..Failure::new(reason, words::trouble(&format!("{}{hint}", plain(said)))) }
}

/// What the provider said, and what Gemini CLI advises, which speaks of signing in whatever went wrong.
fn parts(message: &str) -> (&str, &str) {
    match message.strip_prefix("[API Error: ") {
        Some(rest) => rest.rsplit_once(']').unwrap_or((rest, "")),
        None => (message, ""),
    }
}

fn status(message: &str) -> Option<u64> {
    ["\"code\":", "with status "].iter().find_map(|words| trouble::number_after(message, words))
}

/// The sentence that is meant for people: the provider's answer may be JSON.
fn plain(said: &str) -> String {
    let answer = json::object(said.as_bytes());
    let sentence = answer.as_ref().and_then(|answer| json::text(answer.get("error")?, "message"));
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
            .and_then(http::reason_of),
    }
}
