//! What it means when a provider refuses, from the status and the words that agents pass on.
//!
//! Agents that name the kind of a refusal are believed; this is for all the others. The words are those that the
//! providers' own servers use, so they are looked for in errors of requests only, never in what tools print. What only
//! one agent says stays with it, in a table of the same shape.

use fleet_core::run::Reason;

/// Words in lower case that tell a reason. The first reason of which one occurs is the one.
pub(crate) type Words = [(Reason, &'static [&'static str])];

/// Words of all providers, the more special ones first: a used-up quota comes with the status of a rate limit, and a
/// conversation that is too long with that of a bad request.
const COMMON: &Words = &[
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
            "please run /login",
            "failed to authenticate",
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
            "stream disconnected",
            "connection failed",
        ],
    ),
];

/// How much of a message is looked at: they are short, or hold a whole page of HTML.
const LONGEST_MESSAGE: usize = 8 * 1024;

/// What a status of HTTP and a message mean together; nothing if neither tells. `own` are the words of one agent, which
/// count before those of all.
pub(crate) fn reason(status: Option<u64>, message: &str, own: &Words) -> Option<Reason> {
    let said = by_words(message, own).or_else(|| by_words(message, COMMON));
    match (said, status) {
        // Said with all kinds of statuses, and never by mistake.
        (Some(Reason::ContextOverflow | Reason::QuotaExhausted), _) => said,
        // A server that is down says anything, and what it says about a key or a limit adds nothing.
        (_, Some(status @ (401 | 402 | 408 | 413 | 429 | 500..=599))) => by_status(status),
        _ => said.or_else(|| status.and_then(by_status)),
    }
}

/// The meaning of an HTTP status, if it is clear: a 400 can be anything.
pub(crate) const fn by_status(status: u64) -> Option<Reason> {
    match status {
        401 | 403 => Some(Reason::Auth),
        402 => Some(Reason::QuotaExhausted),
        // Or a wrong address, which does not get better by waiting either.
        404 => Some(Reason::BadModel),
        408 | 500..=599 => Some(Reason::ProviderOutage),
        413 => Some(Reason::ContextOverflow),
        429 => Some(Reason::RateLimited),
        _ => None,
    }
}

/// The status that follows the first of these words that has one.
pub(crate) fn status_after(message: &str, words: &[&str]) -> Option<u64> {
    words.iter().find_map(|words| number_after(message, words))
}

/// The number that follows these words.
pub(crate) fn number_after(text: &str, words: &str) -> Option<u64> {
    let (_, rest) = text.split_once(words)?;
    let digits = rest.find(|character: char| !character.is_ascii_digit()).unwrap_or(rest.len());
    rest[..digits].parse().ok()
}

fn by_words(message: &str, words: &Words) -> Option<Reason> {
    let message = message[..message.floor_char_boundary(LONGEST_MESSAGE)].to_ascii_lowercase();
    words.iter().find(|(_, signs)| signs.iter().any(|sign| message.contains(sign))).map(|(reason, _)| *reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_providers_have_a_meaning() {
        for (words, expected) in [
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
            assert_eq!(reason(None, words, &[]), expected, "{words}");
        }
        let far = format!("{}rate limit", "é".repeat(LONGEST_MESSAGE));
        assert_eq!(reason(None, &far, &[]), None);
    }

    #[test]
    fn the_words_of_an_agent_count_before_those_of_all() {
        let own: &Words = &[(Reason::BadModel, &["empty"]), (Reason::Auth, &["rate limit", "full"])];
        assert_eq!(reason(None, "Rate LIMIT", own), Some(Reason::Auth));
        assert_eq!(reason(None, "full, and EMPTY", own), Some(Reason::BadModel));
        assert_eq!(reason(None, "overloaded", own), Some(Reason::ProviderOutage));
    }

    #[test]
    fn a_status_and_its_words_are_weighed() {
        for (status, words, expected) in [
            (401, "no", Some(Reason::Auth)),
            (401, "model not found", Some(Reason::Auth)),
            (403, "no", Some(Reason::Auth)),
            (403, "model not found", Some(Reason::BadModel)),
            (404, "the requested thing does not exist", Some(Reason::BadModel)),
            (404, "rate limit", Some(Reason::RateLimited)),
            (413, "too big", Some(Reason::ContextOverflow)),
            (429, "slow down", Some(Reason::RateLimited)),
            (429, "unauthorized", Some(Reason::RateLimited)),
            (429, "The usage limit has been reached", Some(Reason::QuotaExhausted)),
            (400, "prompt is too long: 9 > 5", Some(Reason::ContextOverflow)),
            (400, "credit balance is too low", Some(Reason::QuotaExhausted)),
            (400, "odd", None),
            (200, "odd", None),
            (600, "odd", None),
            (529, "overloaded", Some(Reason::ProviderOutage)),
            (500, "rate limit of the database", Some(Reason::ProviderOutage)),
        ] {
            assert_eq!(reason(Some(status), words, &[]), expected, "{status} {words}");
        }
    }

    #[test]
    fn numbers_are_found_behind_words() {
        assert_eq!(status_after("unexpected status 401 Unauthorized", &["HTTP ", "status "]), Some(401));
        assert_eq!(status_after("status x", &["status "]), None);
        assert_eq!(number_after("in 99999999999999999999 ms", "in "), None);
    }
}
