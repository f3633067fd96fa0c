//! The variables of the Python `codefleet`, so that whoever comes from it need not change anything.
//!
//! Owns their names, and how their values become those of our keys: they are a layer below our own variables. Must never
//! invent a setting: each is another name for one that there is.

use super::flaw::{Flaw, quoted};
use super::keys::{self, Key};
use super::value::Value;
use fleet_core::problem::Code;

/// One of these variables, without the prefix.
struct Earlier {
    suffix: &'static str,
    /// What it sets.
    keys: &'static [&'static str],
    reading: Reading,
}

/// How a value is written there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// As the key has it.
    Plain,
    /// A whole number that is not 0: for our key that would mean something else.
    Positive,
    /// Seconds, perhaps with a fraction, for a duration.
    Seconds,
    /// The same, where 0 is none.
    SecondsOrNone,
    /// How hard to think: one of these words, whatever the agent calls it.
    Effort,
    /// Seconds that nothing depends on any more.
    Unused,
}

/// From the least to the most.
const EFFORTS: &[&str] = &["minimal", "low", "medium", "high", "xhigh", "max"];

const ALL: &[Earlier] = &[
    of("DEFAULT_EXECUTOR", &["agent"], Reading::Plain),
    of("DEFAULT_MODEL", &["agents.codex.model"], Reading::Plain),
    of("GEMINI_DEFAULT_MODEL", &["agents.gemini.model"], Reading::Plain),
    of("CLAUDE_DEFAULT_MODEL", &["agents.claude.model"], Reading::Plain),
    of("REASONING_EFFORT", &["agents.codex.effort", "agents.claude.effort"], Reading::Effort),
    of("DEFAULT_TIMEOUT", &["limits.time"], Reading::Seconds),
    of("MAX_CONCURRENT", &["runner.slots"], Reading::Positive),
    of("MAX_SPAWN_DEPTH", &["spawn_depth"], Reading::Plain),
    // `ALLOWED_REPOS` is what our own key would be called, too.
    of("RATE_LIMIT_MAX_RETRIES", &["rate_limit.retries"], Reading::Plain),
    of("RATE_LIMIT_BASE_DELAY", &["rate_limit.first_pause"], Reading::Seconds),
    of("RATE_LIMIT_MAX_DELAY", &["rate_limit.longest_pause"], Reading::Seconds),
    of("STALE_TIMEOUT", &["limits.idle"], Reading::SecondsOrNone),
    // It restarted for nothing else, so that this was all the patience that a worker had.
    of("STALE_MAX_RESTARTS", &["tasks.retries"], Reading::Plain),
    // A keeper renews the lease of its run by itself, as often as `runner.lease_seconds` asks for.
    of("HEARTBEAT_INTERVAL", &[], Reading::Unused),
];

const fn of(suffix: &'static str, keys: &'static [&'static str], reading: Reading) -> Earlier {
    Earlier { suffix, keys, reading }
}

/// What such a variable sets.
pub(super) type Settings = Vec<(&'static str, Value)>;

/// What `FLEET_{suffix}` sets, if it is one of these.
pub(super) fn read(suffix: &str, text: &str) -> Option<Result<Settings, Flaw>> {
    let earlier = ALL.iter().find(|earlier| earlier.suffix == suffix)?;
    if earlier.reading == Reading::Unused {
        return Some(seconds(text).map(|_| Vec::new()).ok_or_else(|| unused(text)));
    }
    Some(earlier.keys.iter().map(|name| Ok((*name, value(earlier.reading, name, text)?))).collect())
}

/// Whether this is one of these variables.
pub(super) fn is_known(suffix: &str) -> bool {
    ALL.iter().any(|earlier| earlier.suffix == suffix)
}

fn value(reading: Reading, name: &str, text: &str) -> Result<Value, Flaw> {
    let key = keys::find(name)?;
    let text = text.trim();
    match reading {
        Reading::Positive if text == "0" => Err(wrong(name, "a whole number that is not 0", text)),
        Reading::Plain | Reading::Positive => taken(key, name, text),
        Reading::SecondsOrNone if seconds(text).is_some_and(|millis| millis == 0) => taken(key, name, "none"),
        Reading::Seconds | Reading::SecondsOrNone => {
            let none = if reading == Reading::Seconds { "more than 0" } else { "or 0 for none" };
            let refused =
                || wrong(name, &format!("a number of seconds such as `600` or `4.5`, {none}"), text);
            let millis = seconds(text).filter(|millis| *millis > 0).ok_or_else(refused)?;
            let whole = millis % 1_000 == 0;
            let written = if whole { format!("{}s", millis / 1_000) } else { format!("{millis}ms") };
            Value::from_text(key.kind, &written).map_err(|mismatch| {
                Flaw::mismatch(name, &mismatch).hint("the value of the variable is in seconds")
            })
        }
        Reading::Effort if !EFFORTS.contains(&text) => {
            Err(wrong(name, &format!("one of `{}`", EFFORTS.join("`, `")), text))
        }
        Reading::Effort => taken(key, name, in_words_of(name, text)),
        Reading::Unused => Ok(Value::Unset),
    }
}

/// The nearest word that the agent of this key knows.
fn in_words_of<'t>(name: &str, effort: &'t str) -> &'t str {
    match (name, effort) {
        ("agents.codex.effort", "max") => "xhigh",
        ("agents.claude.effort", "minimal") => "low",
        _ => effort,
    }
}

fn taken(key: &Key, name: &str, text: &str) -> Result<Value, Flaw> {
    Value::from_text(key.kind, text).map_err(|mismatch| Flaw::mismatch(name, &mismatch))
}

fn wrong(name: &str, allowed: &str, text: &str) -> Flaw {
    Flaw::new(Code::ConfigInvalid, format!("{} must be {allowed}, not {}", quoted(name), quoted(text)))
}

fn unused(text: &str) -> Flaw {
    Flaw::new(Code::ConfigInvalid, format!("must be a number of seconds, not {}", quoted(text)))
}

/// Milliseconds, rounded up: a pause of nothing was not meant.
fn seconds(text: &str) -> Option<u64> {
    let seconds: f64 = text.trim().parse().ok()?;
    let span = std::time::Duration::try_from_secs_f64(seconds).ok()?;
    u64::try_from(span.as_nanos().div_ceil(1_000_000)).ok()
}
