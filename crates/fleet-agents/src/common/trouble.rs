//! From the sentences in which agents pass on what their provider said to a reason, and to what is told of it.
//!
//! The words that all providers use are in [`super::refusal`]; what only one agent says stays with it.

use std::time::Duration;

use fleet_core::run::Reason;

use crate::adapter::Failure;
use crate::common::http;
use crate::event::AgentEvent;

/// How much of a message is looked at; the rest of a long one is a page of HTML or a repeated prompt.
const LOOKED_AT: usize = 8 * 1024;

/// What an HTTP status and the words beside it mean together: a server that is down says anything, and a refusal is
/// told more exactly by its words.
pub(crate) fn by_both(status: Option<u64>, words: Option<Reason>) -> Option<Reason> {
    match status {
        Some(401 | 500..=599) => status.and_then(http::reason_of),
        Some(429) if words != Some(Reason::QuotaExhausted) => Some(Reason::RateLimited),
        _ => words.or_else(|| status.and_then(http::reason_of)),
    }
}

/// What is told of a failure: a limit is one for everybody who uses the account.
pub(crate) fn told(failure: &Failure) -> Vec<AgentEvent> {
    let limit = matches!(failure.reason, Reason::RateLimited | Reason::QuotaExhausted)
        .then(|| AgentEvent::RateLimit { until: failure.until, text: failure.text.clone() });
    let error = AgentEvent::Error { reason: failure.reason, text: failure.text.clone() };
    limit.into_iter().chain([error]).collect()
}

/// The reason of the first of these words, which are in lower case, that occurs in a text.
pub(crate) fn first_of(text: &str, words: &[(&str, Reason)]) -> Option<Reason> {
    let text = text[..text.floor_char_boundary(LOOKED_AT)].to_lowercase();
    words.iter().find(|(word, _)| text.contains(word)).map(|(_, reason)| *reason)
}

/// The number right behind these words.
pub(crate) fn number_after(text: &str, words: &str) -> Option<u64> {
    let (_, rest) = text.split_once(words)?;
    let digits = rest.find(|character: char| !character.is_ascii_digit()).unwrap_or(rest.len());
    rest[..digits].parse().ok()
}

/// The span of time right behind the first of these words that occurs: `1s`, `34.5s`, `5h23m`, `3 days 14 hours`.
pub(crate) fn span_after(text: &str, words: &[&str]) -> Option<Duration> {
    words.iter().find_map(|words| text.split_once(words).and_then(|(_, rest)| span(rest)))
}

/// The longest span that is believed: beyond it a provider means something else.
const LONGEST_SPAN: f64 = 366.0 * 86_400.0;

fn span(text: &str) -> Option<Duration> {
    let mut seconds = 0.0;
    let mut rest = text;
    while let Some((part, further)) = part(rest) {
        seconds += part;
        rest = further;
    }
    (seconds > 0.0 && seconds <= LONGEST_SPAN).then(|| Duration::from_secs_f64(seconds))
}

/// One number with its unit, in seconds, and what follows.
fn part(text: &str) -> Option<(f64, &str)> {
    let text = text.trim_start_matches([' ', ',']);
    let digits = text.find(|character: char| !character.is_ascii_digit() && character != '.')?;
    let number: f64 = text[..digits].parse().ok()?;
    let text = text[digits..].trim_start_matches(' ');
    let letters = text.find(|character: char| !character.is_ascii_alphabetic()).unwrap_or(text.len());
    let unit = match &text[..letters] {
        "ms" => 0.001,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hour" | "hours" => 3_600.0,
        "d" | "day" | "days" => 86_400.0,
        _ => return None,
    };
    Some((number * unit, &text[letters..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_of_a_list_that_occurs_decides() {
        let words = [("empty", Reason::QuotaExhausted), ("slow", Reason::RateLimited)];
        assert_eq!(first_of("Too SLOW, and Empty", &words), Some(Reason::QuotaExhausted));
        assert_eq!(first_of("fast", &words), None);
        let far = format!("{}slow", "é".repeat(LOOKED_AT));
        assert_eq!(first_of(&far, &words), None);
    }

    #[test]
    fn a_status_and_its_words_are_weighed() {
        for (status, words, reason) in [
            (Some(500), Some(Reason::Auth), Some(Reason::ProviderOutage)),
            (Some(401), Some(Reason::BadModel), Some(Reason::Auth)),
            (Some(429), Some(Reason::QuotaExhausted), Some(Reason::QuotaExhausted)),
            (Some(429), Some(Reason::Auth), Some(Reason::RateLimited)),
            (Some(400), Some(Reason::ContextOverflow), Some(Reason::ContextOverflow)),
            (Some(400), None, None),
            (Some(404), None, Some(Reason::BadModel)),
            (None, Some(Reason::Auth), Some(Reason::Auth)),
            (None, None, None),
        ] {
            assert_eq!(by_both(status, words), reason, "{status:?} {words:?}");
        }
    }

    #[test]
    fn numbers_and_spans_are_found_behind_words() {
        assert_eq!(number_after("unexpected status 401 Unauthorized", "status "), Some(401));
        assert_eq!(number_after("status x", "status "), None);
        let spans = [
            ("retry after 1s.", Some(1_000)),
            ("retry after 34.5s", Some(34_500)),
            ("retry after 5h23m.", Some((5 * 60 + 23) * 60_000)),
            ("retry after 3 days 14 hours 10 minutes.", Some(((3 * 24 + 14) * 60 + 10) * 60_000)),
            ("retry after 250ms", Some(250)),
            ("retry after 10:00 AM", None),
            ("retry after 1e999s", None),
            ("retry after 99999999999999999999d", None),
            ("retry after 0s", None),
            ("retry after ...s", None),
            ("retry after", None),
        ];
        for (text, millis) in spans {
            assert_eq!(
                span_after(text, &["nothing ", "retry after "]),
                millis.map(Duration::from_millis),
                "{text}"
            );
        }
    }
}
