//! When a limit is over, as providers and agents say it.

use std::time::Duration;

use fleet_core::event::{LocalTime, When};
use fleet_core::time::Millis;
use serde_json::Value;

use super::json::number;

/// From the body of a provider's answer: a moment is trusted before a span.
pub(crate) fn in_body(body: &Value) -> Option<When> {
    let error = body.get("error").unwrap_or(body);
    let at = ["resets_at", "resetsAt", "reset_at"].iter().find_map(|key| number(error, key));
    let span = ["resets_in_seconds", "retry_after"].iter().find_map(|key| number(error, key));
    at.and_then(moment).or_else(|| span.map(|seconds| When::After(Duration::from_secs(seconds))))
}

/// From the headers of a provider's answer.
pub(crate) fn in_headers(headers: &Value) -> Option<When> {
    let number = |name: &str| {
        let value = headers.get(name)?;
        value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())
    };
    let milliseconds = number("retry-after-ms").map(|value| value / 1000.0);
    let span = milliseconds.or_else(|| number("retry-after"))?;
    Duration::try_from_secs_f64(span).ok().map(When::After)
}

/// From a sentence: the span right after the first of these words that has one, such as `1s`, `34.5s`, `5h23m` or `3
/// days 14 hours`.
pub(crate) fn in_words(text: &str, words: &[&str]) -> Option<When> {
    words.iter().find_map(|words| text.split_once(words).and_then(|(_, rest)| span(rest))).map(When::After)
}

/// From a sentence: the local time right after the first of these words that has one, as Americans write it: `4:46 AM`
/// or `Nov 17th, 2026 4:46 AM`.
pub(crate) fn at_time(text: &str, words: &[&str]) -> Option<When> {
    words
        .iter()
        .find_map(|words| text.split_once(words).and_then(|(_, rest)| local_time(rest)))
        .map(When::Local)
}

fn local_time(text: &str) -> Option<LocalTime> {
    let mut words = text.split_ascii_whitespace();
    let first = words.next()?;
    let (date, clock) = match MONTHS.iter().zip(1..).find(|(name, _)| first.starts_with(**name)) {
        None => (None, first),
        Some((_, month)) => {
            let day = words.next()?.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok()?;
            (Some((words.next()?.parse().ok()?, month, day)), words.next()?)
        }
    };
    let (hour, minute) = clock.split_once(':')?;
    let (hour, minute): (i8, i8) = (hour.parse().ok()?, minute.parse().ok()?);
    let half = words.next()?.trim_end_matches(|c: char| !c.is_ascii_alphabetic());
    let noon = match half {
        "AM" => 0,
        "PM" => 12,
        _ => return None,
    };
    let is_one = (1..=12).contains(&hour) && (0..60).contains(&minute);
    is_one.then_some(LocalTime { date, hour: hour % 12 + noon, minute })
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// A moment in seconds or milliseconds since 1970: no provider resets before 2001 or after the year 33658.
pub(crate) fn moment(number: u64) -> Option<When> {
    const FIRST_IN_MILLISECONDS: u64 = 1_000_000_000_000;
    let millis = if number < FIRST_IN_MILLISECONDS { number.checked_mul(1000)? } else { number };
    i64::try_from(millis).ok().filter(|millis| *millis > 0).map(|millis| When::At(Millis(millis)))
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
    use serde_json::json;

    use super::*;

    #[test]
    fn the_end_of_a_limit_is_read_from_body_and_headers() {
        let at = Some(When::At(Millis(1_794_737_471_000)));
        assert_eq!(in_body(&json!({ "error": { "resets_at": 1_794_737_471 } })), at);
        assert_eq!(in_body(&json!({ "resetsAt": 1_794_737_471_000_u64 })), at);
        let after = |seconds| Some(When::After(Duration::from_secs_f64(seconds)));
        assert_eq!(in_body(&json!({ "error": { "resets_in_seconds": 60 } })), after(60.0));
        assert_eq!(in_headers(&json!({ "retry-after": "1" })), after(1.0));
        assert_eq!(in_headers(&json!({ "retry-after": "9", "retry-after-ms": "1500" })), after(1.5));
        for odd in [json!({ "retry-after": "soon" }), json!({ "retry-after": "-1" }), json!([]), json!(null)]
        {
            assert_eq!(in_headers(&odd), None, "{odd}");
        }
        assert_eq!(in_body(&json!({ "resets_at": u64::MAX })), None);
        assert_eq!(in_body(&json!({ "resets_at": 0 })), None);
    }

    #[test]
    fn spans_are_found_behind_words() {
        for (text, millis) in [
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
        ] {
            let after = millis.map(|millis| When::After(Duration::from_millis(millis)));
            assert_eq!(in_words(text, &["nothing ", "retry after "]), after, "{text}");
        }
    }

    #[test]
    fn times_of_the_clock_on_the_wall_are_found_behind_words() {
        let time = |date, hour, minute| Some(When::Local(LocalTime { date, hour, minute }));
        for (text, expected) in [
            ("try again at 4:46 AM.", time(None, 4, 46)),
            ("try again at 12:00 AM", time(None, 0, 0)),
            ("try again at 12:05 PM.", time(None, 12, 5)),
            ("try again at Nov 17th, 2026 4:46 PM.", time(Some((2026, 11, 17)), 16, 46)),
            ("try again at Jan 1st, 2027 11:59 PM, or not", time(Some((2027, 1, 1)), 23, 59)),
            ("try again at 16:46", None),
            ("try again at 13:46 PM", None),
            ("try again at 4:60 AM", None),
            ("try again at 4:46 BM", None),
            ("try again at Nov soon, 2026 4:46 PM", None),
            ("try again at noon", None),
            ("try again at", None),
        ] {
            assert_eq!(at_time(text, &["nothing ", "try again at "]), expected, "{text}");
        }
    }
}
