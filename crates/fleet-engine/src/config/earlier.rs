//! The variables of the Python `codefleet`, so that its users need not change anything.
//!
//! Each is another name for one of our settings, in a layer below our own variables.

use fleet_core::problem::{Code, Outcome, Problem};

use super::messages::quoted;
use super::names;
use super::value::ConfigValue;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EarlierFormat {
    Same,
    /// A whole number that is not 0: for our key that would mean something else.
    Positive,
    /// Seconds, perhaps with a fraction, for a duration.
    Seconds,
    /// Seconds, where 0 is none.
    SecondsOrNone,
    /// How hard to think: one of [`EFFORTS`], whatever the agent calls it.
    Effort,
}

/// From the least to the most.
const EFFORTS: &[&str] = &["minimal", "low", "medium", "high", "xhigh", "max"];

/// Accepted without effect: a keeper renews the lease of its run by itself, as often as `runner.lease_seconds` asks for.
const UNUSED: &str = "HEARTBEAT_INTERVAL";

/// Each variable without its prefix, and the keys that it sets. `ALLOWED_REPOS` is what our own key is called, too.
const ALL: &[(&str, &[&str], EarlierFormat)] = &[
    ("DEFAULT_EXECUTOR", &["agent"], EarlierFormat::Same),
    ("DEFAULT_MODEL", &["agents.codex.model"], EarlierFormat::Same),
    ("GEMINI_DEFAULT_MODEL", &["agents.gemini.model"], EarlierFormat::Same),
    ("CLAUDE_DEFAULT_MODEL", &["agents.claude.model"], EarlierFormat::Same),
    ("REASONING_EFFORT", &["agents.codex.effort", "agents.claude.effort"], EarlierFormat::Effort),
    ("DEFAULT_TIMEOUT", &["limits.time"], EarlierFormat::Seconds),
    ("MAX_CONCURRENT", &["runner.slots"], EarlierFormat::Positive),
    ("MAX_SPAWN_DEPTH", &["spawn_depth"], EarlierFormat::Same),
    ("RATE_LIMIT_MAX_RETRIES", &["rate_limit.retries"], EarlierFormat::Same),
    ("RATE_LIMIT_BASE_DELAY", &["rate_limit.first_pause"], EarlierFormat::Seconds),
    ("RATE_LIMIT_MAX_DELAY", &["rate_limit.longest_pause"], EarlierFormat::Seconds),
    ("STALE_TIMEOUT", &["limits.idle"], EarlierFormat::SecondsOrNone),
    // It restarted for nothing else, so that this was all the patience that a worker had.
    ("STALE_MAX_RESTARTS", &["tasks.retries"], EarlierFormat::Same),
    (UNUSED, &[], EarlierFormat::Seconds),
];

pub(super) type EarlierSettings = Vec<(&'static str, ConfigValue)>;

/// What `FLEET_{suffix}` sets, if it is one of these.
pub(super) fn read(suffix: &str, text: &str) -> Option<Outcome<EarlierSettings>> {
    let (_, keys, format) = ALL.iter().find(|(known, ..)| *known == suffix)?;
    if suffix == UNUSED && milliseconds(text).is_none() {
        let message = format!("must be a number of seconds, not {}", quoted(text));
        return Some(Err(Problem::new(Code::ConfigInvalid, message)));
    }
    Some(keys.iter().map(|name| Ok((*name, value(*format, name, text.trim())?))).collect())
}

pub(super) fn is_known(suffix: &str) -> bool {
    ALL.iter().any(|(known, ..)| *known == suffix)
}

fn value(format: EarlierFormat, name: &str, text: &str) -> Outcome<ConfigValue> {
    let in_our_words = translated(format, name, text).map_err(|allowed| {
        let message = format!("{} must be {allowed}, not {}", quoted(name), quoted(text));
        Problem::new(Code::ConfigInvalid, message)
    })?;
    let value = ConfigValue::of(names::find(name)?, name, &in_our_words);
    if matches!(format, EarlierFormat::Seconds | EarlierFormat::SecondsOrNone) {
        return value.map_err(|problem| problem.hint("the value of the variable is in seconds"));
    }
    value
}

/// The value as our key is written, or what would be allowed.
fn translated(format: EarlierFormat, name: &str, text: &str) -> Result<String, String> {
    let seconds = |otherwise| format!("a number of seconds such as `600` or `4.5`, {otherwise}");
    match (format, milliseconds(text)) {
        (EarlierFormat::Positive, _) if text == "0" => Err("a whole number that is not 0".to_owned()),
        (EarlierFormat::Effort, _) if !EFFORTS.contains(&text) => {
            Err(format!("one of `{}`", EFFORTS.join("`, `")))
        }
        (EarlierFormat::Effort, _) => Ok(effort(name, text).to_owned()),
        (EarlierFormat::Same | EarlierFormat::Positive, _) => Ok(text.to_owned()),
        (EarlierFormat::SecondsOrNone, Some(0)) => Ok("none".to_owned()),
        (EarlierFormat::Seconds, None | Some(0)) => Err(seconds("more than 0")),
        (EarlierFormat::SecondsOrNone, None) => Err(seconds("or 0 for none")),
        (_, Some(millis)) if millis % 1_000 == 0 => Ok(format!("{}s", millis / 1_000)),
        (_, Some(millis)) => Ok(format!("{millis}ms")),
    }
}

/// The nearest word that the agent of this key knows.
fn effort<'t>(name: &str, effort: &'t str) -> &'t str {
    match (name, effort) {
        ("agents.codex.effort", "max") => "xhigh",
        ("agents.claude.effort", "minimal") => "low",
        _ => effort,
    }
}

/// Seconds as milliseconds, rounded up: a pause of nothing was not meant.
fn milliseconds(text: &str) -> Option<u64> {
    let seconds: f64 = text.trim().parse().ok()?;
    let span = std::time::Duration::try_from_secs_f64(seconds).ok()?;
    u64::try_from(span.as_nanos().div_ceil(1_000_000)).ok()
}
