//! The clock and the source of randomness: the only place that asks the machine for either.
//!
//! Machines that share a store agree on its server's time ([`shared`]): leases, pauses, schedules and days are compared
//! with what others wrote, and a machine whose clock is wrong would steal, wake or start too early.

pub(crate) mod shared;
#[cfg(test)]
mod two_machines;

use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime};

use fleet_agents::LocalTime;
pub use fleet_api::rfc3339;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::time::{Millis, Span};
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan, Zoned};

/// What time it is, for all who share the store: once that is open, the time of its server.
pub fn now() -> Millis {
    shared::corrected(machine_now())
}

/// What the clock of this machine shows: for what this machine has dated itself, such as files.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
pub fn machine_now() -> Millis {
    let now = Millis(Timestamp::now().as_millisecond());
    #[cfg(test)]
    let now = shared::skewed(now);
    now
}

/// A moment of a file system, in milliseconds since 1970.
pub fn millis_of(moment: SystemTime) -> Option<u64> {
    let since = moment.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    u64::try_from(since.as_millis()).ok()
}

/// How long the machine has been awake since some moment: for limits, which must not run out while a laptop sleeps.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
pub fn uptime() -> Duration {
    static SINCE: OnceLock<Instant> = OnceLock::new();
    SINCE.get_or_init(Instant::now).elapsed()
}

pub fn entropy() -> Outcome<u64> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes)
        .map_err(|error| Problem::new(Code::Internal, format!("the system gives no randomness: {error}")))?;
    Ok(u64::from_le_bytes(bytes))
}

/// An instant as people read it: local, to the second.
pub fn local(at: Millis) -> String {
    let timestamp = Timestamp::from_millisecond(at.0).unwrap_or(Timestamp::UNIX_EPOCH);
    timestamp.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// Reads a moment as people write it: `2h` from now, `14:30`, `2026-12-24`, `2026-12-24 14:30`, or RFC 3339.
/// Times without a zone are local.
pub fn parse_moment(text: &str, now: Millis) -> Outcome<Millis> {
    let moment = exact(text, |span| now.plus(span));
    moment.or_else(|| local_moment(text, now, &TimeZone::system())).ok_or_else(|| {
        Problem::new(Code::InvalidValue, format!("not-before: {text:?} is not a time"))
            .hint("write `2h` (from now), `14:30`, `2026-12-24`, `2026-12-24 14:30` or an RFC 3339 time")
    })
}

/// The same for when something is to begin: a date that is over is a slip, not a wish to begin at once.
pub fn parse_begin(text: &str, now: Millis) -> Outcome<Millis> {
    let moment = parse_moment(text, now)?;
    if moment.plus(PAST_SLACK) >= now {
        return Ok(moment);
    }
    let message = format!("{text:?} is in the past: {}", local(moment));
    Err(Problem::field("not-before", message).hint("leave it out to start as soon as possible"))
}

/// A time that was right when the user began to type it.
const PAST_SLACK: Duration = Duration::from_mins(10);

/// Reads a moment in the past as people write it: `24h` ago, `2026-12-24`, `2026-12-24 14:30`, or RFC 3339. `field` is
/// what it is for.
pub fn parse_past(field: &str, text: &str, now: Millis) -> Outcome<Millis> {
    let before = |span: Duration| now.0.saturating_sub(i64::try_from(span.as_millis()).unwrap_or(i64::MAX));
    // A time alone would be the next one of its kind, which is never what is meant here.
    let dated = || local_moment(Some(text).filter(|text| text.contains('-'))?, now, &TimeZone::system());
    exact(text, |span| Millis(before(span))).or_else(dated).ok_or_else(|| {
        Problem::new(Code::InvalidValue, format!("{field}: {text:?} is not a time in the past"))
            .hint("write `24h` (ago), `2026-12-24`, `2026-12-24 14:30` or an RFC 3339 time")
    })
}

/// A moment that needs no zone: a span of time from now, or RFC 3339. A bare number could be seconds, a year or a time without
/// its colon: too much to guess.
fn exact(text: &str, away: impl Fn(Duration) -> Millis) -> Option<Millis> {
    let is_bare = text.bytes().all(|byte| byte.is_ascii_digit());
    let span = text.parse::<Span>().ok().filter(|_| !is_bare).map(|span| away(span.0));
    span.or_else(|| text.parse::<Timestamp>().ok().map(|timestamp| Millis(timestamp.as_millisecond())))
}

fn local_moment(text: &str, now: Millis, zone: &TimeZone) -> Option<Millis> {
    let here = Timestamp::from_millisecond(now.0).ok()?.to_zoned(zone.clone());
    // A date has dashes, a time alone has none; the parser of times would take the time out of both.
    let moment = if !text.contains('-') {
        next_at(&here, text.parse::<Time>().ok().filter(|_| text.contains(':'))?)?
    } else if let Ok(when) = text.parse::<DateTime>() {
        when.to_zoned(zone.clone()).ok()?
    } else {
        text.parse::<Date>().ok()?.to_zoned(zone.clone()).ok()?
    };
    Some(Millis(moment.timestamp().as_millisecond()))
}

/// When an agent's clock on the wall says that time, heard now.
pub fn moment_of(time: LocalTime, now: Millis) -> Option<Millis> {
    moment_in(&TimeZone::system(), time, now)
}

fn moment_in(zone: &TimeZone, told: LocalTime, now: Millis) -> Option<Millis> {
    let here = Timestamp::from_millisecond(now.0).ok()?.to_zoned(zone.clone());
    let time = Time::new(told.hour, told.minute, 0, 0).ok()?;
    let date = match told.date {
        Some((year, month, day)) => Date::new(year, month, day).ok()?,
        // What is said just before midnight may be heard just after it.
        None if time.hour() == 23 && here.hour() == 0 => here.date().yesterday().ok()?,
        None => here.date(),
    };
    Some(Millis(date.to_datetime(time).to_zoned(zone.clone()).ok()?.timestamp().as_millisecond()))
}

/// Today if it is still to come, else tomorrow.
fn next_at(here: &Zoned, time: Time) -> Option<Zoned> {
    let today = here.date().to_datetime(time).to_zoned(here.time_zone().clone()).ok()?;
    if today > *here { Some(today) } else { today.checked_add(1.day()).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-15T10:00:00Z, a Sunday.
    const NOW: Millis = Millis(1_794_736_800_000);

    fn moment(text: &str) -> String {
        let parsed = text.parse::<Span>().map(|span| NOW.plus(span.0)).ok();
        let parsed = parsed.or_else(|| text.parse::<Timestamp>().ok().map(|t| Millis(t.as_millisecond())));
        parsed.or_else(|| local_moment(text, NOW, &TimeZone::UTC)).map_or("refused".to_owned(), rfc3339)
    }

    #[test]
    fn nothing_begins_in_the_past() {
        assert_eq!(parse_begin("90s", NOW), Ok(Millis(NOW.0 + 90_000)));
        let problem = parse_begin("2020-01-01", NOW).unwrap_err();
        assert!(problem.to_string().contains("is in the past: 2020-01-01"), "{problem}");
    }

    #[test]
    fn moments_as_people_write_them() {
        assert_eq!(rfc3339(NOW), "2026-11-15T10:00:00.000Z");
        assert_eq!(moment("2h"), "2026-11-15T12:00:00.000Z");
        assert_eq!(moment("14:30"), "2026-11-15T14:30:00.000Z");
        assert_eq!(moment("09:00"), "2026-11-16T09:00:00.000Z");
        assert_eq!(moment("2026-12-24"), "2026-12-24T00:00:00.000Z");
        assert_eq!(moment("2026-12-24 18:00"), "2026-12-24T18:00:00.000Z");
        assert_eq!(moment("2026-12-24T18:00:00+01:00"), "2026-12-24T17:00:00.000Z");
        for wrong in ["", "soon", "25:00", "2026-13-01", "-2h"] {
            assert_eq!(moment(wrong), "refused", "{wrong:?}");
        }
        for wrong in ["soon", "1430", "2026"] {
            assert!(parse_moment(wrong, NOW).is_err(), "{wrong:?} was accepted");
        }
        assert_eq!(parse_moment("90s", NOW), Ok(Millis(NOW.0 + 90_000)));
        assert_eq!(parse_past("since", "90s", NOW), Ok(Millis(NOW.0 - 90_000)));
        assert_eq!(parse_past("since", "2026-11-15T09:00:00Z", NOW), Ok(Millis(NOW.0 - 3_600_000)));
        assert!(parse_past("since", "2026-11-14", NOW).is_ok_and(|at| at < NOW));
        for wrong in ["", "soon", "14:30", "90"] {
            let message = parse_past("since", wrong, NOW).unwrap_err().message;
            assert!(message.starts_with("since: "), "{message}");
        }
    }

    #[test]
    fn the_clock_on_the_wall_is_that_of_the_zone() {
        let time = |date, hour| LocalTime { date, hour, minute: 46 };
        let told = |zone: &TimeZone, date, hour| {
            moment_in(zone, time(date, hour), NOW).map_or("none".to_owned(), rfc3339)
        };
        let west = TimeZone::fixed(jiff::tz::offset(-8));
        assert_eq!(told(&TimeZone::UTC, None, 16), "2026-11-15T16:46:00.000Z");
        assert_eq!(told(&west, None, 4), "2026-11-15T12:46:00.000Z", "it is two in the morning there");
        assert_eq!(told(&west, None, 1), "2026-11-15T09:46:00.000Z", "over a moment ago, not tomorrow");
        assert_eq!(told(&west, Some((2026, 11, 17)), 4), "2026-11-17T12:46:00.000Z");
        assert_eq!(told(&west, Some((2026, 2, 30)), 4), "none");
        let midnight = TimeZone::fixed(jiff::tz::offset(-10));
        assert_eq!(told(&midnight, None, 23), "2026-11-15T09:46:00.000Z", "said before midnight");
    }
}
