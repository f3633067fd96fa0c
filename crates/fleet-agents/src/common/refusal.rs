//! What it means when a provider refuses, from the status and the words that agents pass on.
//!
//! Agents that name the kind of a refusal are believed; this is for all the others. The words are those that the
//! providers' own servers use, so they are looked for in errors of requests only, never in what tools print.

use std::time::Duration;

use fleet_core::run::Reason;
use fleet_core::time::Millis;
use serde_json::Value;

use super::pointer::{number, text};
use crate::event::When;

/// Words of refusals, the more special ones first: a used-up quota comes with the status of a rate limit, and a
/// conversation that is too long with that of a bad request.
const WORDS: &[(Reason, &[&str])] = &[
    (
        Reason::ContextOverflow,
        &[
            "context_length_exceeded",
            "contextoverflow",
            "context window",
            "context length",
            "context limit",
            "prompt as too long",
            "prompt is too long",
            "prompt too long",
            "input is too long",
            "input token count exceeds",
            "exceeds the maximum number of tokens",
            "request_too_large",
        ],
    ),
    (
        Reason::QuotaExhausted,
        &[
            "usage_limit_reached",
            "usage limit",
            "usagelimiterror",
            "usage exceeded",
            "insufficient_quota",
            "insufficient credit",
            "credit balance",
            "daily quota",
            "perday",
            "out of credits",
            "payment required",
        ],
    ),
    (
        Reason::BadModel,
        &[
            "model not found",
            "model_not_found",
            "modelnotfound",
            "unknown model",
            "invalid model",
            "model is not supported",
            "not a valid model",
        ],
    ),
    (
        Reason::Auth,
        &[
            "invalid_api_key",
            "incorrect api key",
            "invalid api key",
            "api key not valid",
            "invalid x-api-key",
            "api key is missing",
            "missing api key",
            "authentication",
            "unauthorized",
            "not logged in",
            "please log in",
            "login required",
            "token has expired",
            "providerautherror",
        ],
    ),
    (
        Reason::RateLimited,
        &["rate limit", "rate_limit", "rate-limit", "ratelimit", "too many requests", "resource_exhausted"],
    ),
    (
        Reason::ProviderOutage,
        &[
            "overloaded",
            "server_error",
            "server error",
            "service unavailable",
            "bad gateway",
            "gateway timeout",
            "high demand",
            "at capacity",
            "timed out",
            "timeout",
            "unable to connect",
            "cannot connect",
            "connection refused",
            "connection reset",
            "connection error",
            "econnrefused",
            "econnreset",
            "enotfound",
            "etimedout",
            "fetch failed",
            "socket hang up",
            "network error",
            "terminated",
        ],
    ),
];

/// More than this of an error message is not looked at: they are short, or hold a whole page of HTML.
const LOOKED_AT: usize = 8 * 1024;

/// What an error of a request means, from its words alone.
pub(crate) fn by_words(words: &str) -> Option<Reason> {
    let end = words.floor_char_boundary(LOOKED_AT);
    let words = words[..end].to_ascii_lowercase();
    WORDS.iter().find(|(_, signs)| signs.iter().any(|sign| words.contains(sign))).map(|(reason, _)| *reason)
}

/// What an error of a request means, from the status of HTTP and its words.
pub(crate) fn by_status(status: u64, words: &str) -> Reason {
    let said = by_words(words);
    match (status, said) {
        // Said with all kinds of statuses, and never by mistake.
        (_, Some(Reason::ContextOverflow | Reason::QuotaExhausted)) => said.unwrap_or(Reason::AgentError),
        (401 | 403, _) => Reason::Auth,
        (402, _) => Reason::QuotaExhausted,
        (404, _) if words.to_ascii_lowercase().contains("model") => Reason::BadModel,
        (408 | 500.., _) => Reason::ProviderOutage,
        (413, _) => Reason::ContextOverflow,
        (429, _) => Reason::RateLimited,
        _ => said.unwrap_or(Reason::AgentError),
    }
}

/// When a refusal is over, from the body of the answer: the moment is trusted before the span.
pub(crate) fn until_in_body(body: &Value) -> Option<When> {
    let error = body.get("error").unwrap_or(body);
    let at = ["/resets_at", "/resetsAt", "/reset_at"].iter().find_map(|key| number(error, key));
    let span = ["/resets_in_seconds", "/retry_after"].iter().find_map(|key| number(error, key));
    at.and_then(moment).or_else(|| span.map(|seconds| When::After(Duration::from_secs(seconds))))
}

/// When a refusal is over, from the headers of the answer.
pub(crate) fn until_in_headers(headers: &Value) -> Option<When> {
    let seconds = |name: &str| {
        let value = headers.get(name)?;
        value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())
    };
    let milliseconds = seconds("retry-after-ms").map(|value| value / 1000.0);
    let span = milliseconds.or_else(|| seconds("retry-after"))?;
    Duration::try_from_secs_f64(span).ok().map(When::After)
}

/// An answer's body that came as text.
pub(crate) fn body(error: &Value, pointer: &str) -> Option<Value> {
    serde_json::from_str(text(error, pointer)?).ok()
}

/// A moment in seconds or milliseconds since 1970: no provider resets before 2001 or after the year 33658.
fn moment(number: u64) -> Option<When> {
    const FIRST_IN_MILLISECONDS: u64 = 1_000_000_000_000;
    let millis = if number < FIRST_IN_MILLISECONDS { number.checked_mul(1000)? } else { number };
    i64::try_from(millis).ok().map(|millis| When::At(Millis(millis)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_of_providers_have_a_meaning() {
        for (words, reason) in [
            ("Your input exceeds the context window of this model.", Some(Reason::ContextOverflow)),
            ("The usage limit has been reached", Some(Reason::QuotaExhausted)),
            ("You exceeded your current quota: insufficient_quota", Some(Reason::QuotaExhausted)),
            ("ProviderModelNotFoundError: Model not found: a/b.", Some(Reason::BadModel)),
            ("Incorrect API key provided: dummy.", Some(Reason::Auth)),
            ("This request would exceed your rate limit", Some(Reason::RateLimited)),
            ("AI_APICallError: Cannot connect to API", Some(Reason::ProviderOutage)),
            ("The operation timed out.", Some(Reason::ProviderOutage)),
            ("Something else", None),
            ("", None),
        ] {
            assert_eq!(by_words(words), reason, "{words}");
        }
        assert_eq!(by_words(&"é".repeat(100_000)), None);
    }

    #[test]
    fn the_status_decides_unless_the_words_say_more() {
        for (status, words, reason) in [
            (401, "no", Reason::Auth),
            (403, "no", Reason::Auth),
            (404, "model not found", Reason::BadModel),
            (404, "the requested Model does not exist", Reason::BadModel),
            (404, "page not found", Reason::AgentError),
            (413, "too big", Reason::ContextOverflow),
            (429, "slow down", Reason::RateLimited),
            (429, "The usage limit has been reached", Reason::QuotaExhausted),
            (400, "prompt is too long: 9 > 5", Reason::ContextOverflow),
            (400, "credit balance is too low", Reason::QuotaExhausted),
            (400, "odd", Reason::AgentError),
            (529, "overloaded", Reason::ProviderOutage),
            (500, "rate limit of the database", Reason::ProviderOutage),
        ] {
            assert_eq!(by_status(status, words), reason, "{status} {words}");
        }
    }

    #[test]
    fn the_end_of_a_limit_is_read_from_body_and_headers() {
        let at = Some(When::At(Millis(1_794_737_471_000)));
        assert_eq!(until_in_body(&json!({ "error": { "resets_at": 1_794_737_471 } })), at);
        assert_eq!(until_in_body(&json!({ "resetsAt": 1_794_737_471_000_u64 })), at);
        let after = |seconds| Some(When::After(Duration::from_secs_f64(seconds)));
        assert_eq!(until_in_body(&json!({ "error": { "resets_in_seconds": 60 } })), after(60.0));
        assert_eq!(until_in_headers(&json!({ "retry-after": "1" })), after(1.0));
        assert_eq!(until_in_headers(&json!({ "retry-after": "9", "retry-after-ms": "1500" })), after(1.5));
        for odd in [json!({ "retry-after": "soon" }), json!({ "retry-after": "-1" }), json!([]), json!(null)]
        {
            assert_eq!(until_in_headers(&odd), None, "{odd}");
        }
        assert_eq!(until_in_body(&json!({ "resets_at": u64::MAX })), None);
        assert_eq!(body(&json!({ "b": "{\"x\":1}" }), "/b"), Some(json!({ "x": 1 })));
    }
}
