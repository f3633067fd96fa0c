//! Instants and spans as plain numbers, so that both database engines and every test agree on them.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An instant: milliseconds since the Unix epoch, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Millis(pub i64);

impl Millis {
    /// This instant moved forward by `span`, saturating.
    #[must_use]
    pub fn plus(self, span: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(span.as_millis()).unwrap_or(i64::MAX)))
    }

    /// How long after `earlier` this instant is; zero if it is not after it.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

/// How many milliseconds another clock is ahead of our own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClockOffset(pub i64);

/// A look at another clock: what it showed, and what our own showed before and after the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockReading {
    /// Our own clock before the question.
    pub before: Millis,
    /// The other clock.
    pub there: Millis,
    /// Our own clock after the answer.
    pub after: Millis,
}

impl ClockOffset {
    /// What is known after one more look. The other clock was read at some moment between the two of ours: that bounds
    /// the difference, and within the bounds the earlier value is as good as any. So a slow answer spoils nothing.
    #[must_use]
    pub fn corrected(self, reading: ClockReading) -> Self {
        let ClockReading { before, there, after } = reading;
        let (one, other) = (there.0.saturating_sub(after.0), there.0.saturating_sub(before.0));
        // Our own clock may have been set back in between.
        Self(self.0.clamp(one.min(other), one.max(other)))
    }
}

/// A span as people write it: `90s`, `30m`, `1h30m`, `2d`, or plain seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(pub Duration);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a duration: write for example 90s, 30m, 1h30m or 2d")]
pub struct SpanError(String);

impl FromStr for Span {
    type Err = SpanError;

    fn from_str(text: &str) -> Result<Self, SpanError> {
        parse_span(text).map(Self).ok_or_else(|| SpanError(text.to_owned()))
    }
}

fn parse_span(text: &str) -> Option<Duration> {
    if let Ok(seconds) = text.parse::<u64>() {
        return checked_seconds(seconds, 1);
    }
    let mut total = Duration::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let number: u64 = rest[..digits].parse().ok()?;
        let unit_end = rest[digits..].find(|c: char| c.is_ascii_digit()).map_or(rest.len(), |at| digits + at);
        let part = match &rest[digits..unit_end] {
            "ms" => Duration::from_millis(number),
            unit => checked_seconds(number, seconds_of(unit)?)?,
        };
        total = total.checked_add(part)?;
        rest = &rest[unit_end..];
    }
    (!text.is_empty() && total.as_secs() <= LONGEST_SECONDS).then_some(total)
}

/// A hundred years: beyond that a span is a typing error, and adding it to an instant could overflow.
const LONGEST_SECONDS: u64 = 100 * 366 * 86_400;

fn checked_seconds(number: u64, factor: u64) -> Option<Duration> {
    number.checked_mul(factor).filter(|seconds| *seconds <= LONGEST_SECONDS).map(Duration::from_secs)
}

fn seconds_of(unit: &str) -> Option<u64> {
    Some(match unit {
        "s" | "sec" => 1,
        "m" | "min" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 7 * 86_400,
        _ => return None,
    })
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        let millis = self.0.subsec_millis();
        if seconds == 0 && millis > 0 {
            return write!(f, "{millis}ms");
        }
        let parts = [
            (seconds / 86_400, "d"),
            (seconds / 3_600 % 24, "h"),
            (seconds / 60 % 60, "m"),
            (seconds % 60, "s"),
        ];
        let first = parts.iter().position(|(n, _)| *n > 0).unwrap_or(3);
        // Two units are enough: the seconds of three days do not matter.
        for (n, unit) in parts.iter().skip(first).take(2).filter(|(n, _)| *n > 0 || seconds == 0) {
            write!(f, "{n}{unit}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_at_another_clock_corrects_no_more_than_it_can_know() {
        let look = |offset, before, there, after| {
            let reading = ClockReading { before: Millis(before), there: Millis(there), after: Millis(after) };
            ClockOffset(offset).corrected(reading).0
        };
        assert_eq!(look(0, 1_000, 1_003, 1_005), 0, "the same time");
        assert_eq!(look(0, 1_000, 601_003, 1_005), 599_998, "ten minutes ahead");
        assert_eq!(look(599_998, 5_000, 605_002, 5_004), 599_998, "known already");
        assert_eq!(look(600_000, 5_000, 605_009, 15_000), 600_000, "a slow answer");
        assert_eq!(look(0, 700_000, 100_000, 700_004), -600_000, "ten minutes behind");
        assert_eq!(look(7, 1_000, 1_000, 900), 7, "set back meanwhile");
    }

    #[test]
    fn spans_as_people_write_them() {
        let seconds = |text: &str| text.parse::<Span>().map(|span| span.0.as_secs());
        assert_eq!(seconds("90"), Ok(90));
        assert_eq!(seconds("90s"), Ok(90));
        assert_eq!(seconds("30m"), Ok(1_800));
        assert_eq!(seconds("1h30m"), Ok(5_400));
        assert_eq!(seconds("2d"), Ok(172_800));
        assert_eq!("250ms".parse::<Span>(), Ok(Span(Duration::from_millis(250))));
        for wrong in
            ["", "h", "1x", "-5m", "1h 30m", "m30", "99999999999999999999s", "20000000000d", "1.5h", "5µ"]
        {
            assert!(wrong.parse::<Span>().is_err(), "{wrong:?} was accepted");
        }
    }

    #[test]
    fn spans_shown_in_two_units() {
        let shown = |seconds| Span(Duration::from_secs(seconds)).to_string();
        assert_eq!(shown(0), "0s");
        assert_eq!(shown(59), "59s");
        assert_eq!(shown(3_600), "1h");
        assert_eq!(shown(5_430), "1h30m");
        assert_eq!(shown(86_400 * 3 + 61), "3d");
        assert_eq!(Span(Duration::from_millis(40)).to_string(), "40ms");
    }

    #[test]
    fn instants_saturate_instead_of_wrapping() {
        assert_eq!(Millis(i64::MAX).plus(Duration::from_secs(1)), Millis(i64::MAX));
        assert_eq!(Millis(5).since(Millis(9)), Duration::ZERO);
        assert_eq!(Millis(1_500).since(Millis(500)), Duration::from_secs(1));
    }
}
