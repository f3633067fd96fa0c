//! The limits of a run: time, tokens, money.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::time::Span;

/// Upper bounds for one run of a task; `None` is no bound of its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Wall-clock seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u64>,
    /// Seconds without a sign of work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_seconds: Option<u64>,
    /// Tokens, input and output together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Money in millionths of a US dollar, so that sums are exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub micro_usd: Option<u64>,
}

/// One bound as typed: `time=30m`, `idle=10m`, `tokens=200k`, `usd=2.50`; the value `none` takes a bound away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Wall-clock seconds.
    Seconds(Option<u64>),
    /// Seconds without a sign of work.
    IdleSeconds(Option<u64>),
    Tokens(Option<u64>),
    /// Millionths of a US dollar.
    MicroUsd(Option<u64>),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a limit: write time=30m, idle=10m, tokens=200k or usd=2.50 (none removes a limit)")]
pub struct LimitError(String);

impl FromStr for Limit {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<Self, LimitError> {
        let wrong = || LimitError(text.to_owned());
        let (name, value) = text.split_once('=').ok_or_else(wrong)?;
        let positive = |number: Option<u64>| number.filter(|n| *n > 0).ok_or_else(wrong);
        let optional = |parse: fn(&str) -> Option<u64>| {
            if value == "none" { Ok(None) } else { positive(parse(value)).map(Some) }
        };
        let seconds = |value: &str| value.parse::<Span>().ok().map(|span| span.0.as_secs());
        match name {
            "time" => optional(seconds).map(Self::Seconds),
            "idle" => optional(seconds).map(Self::IdleSeconds),
            "tokens" => optional(parse_tokens).map(Self::Tokens),
            "usd" => optional(parse_usd).map(Self::MicroUsd),
            _ => Err(wrong()),
        }
    }
}

impl Limits {
    #[must_use]
    pub const fn with(mut self, limit: Limit) -> Self {
        match limit {
            Limit::Seconds(seconds) => self.seconds = seconds,
            Limit::IdleSeconds(seconds) => self.idle_seconds = seconds,
            Limit::Tokens(tokens) => self.tokens = tokens,
            Limit::MicroUsd(micro_usd) => self.micro_usd = micro_usd,
        }
        self
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The largest number that both engines and JSON carry exactly.
const LARGEST: u64 = 1 << 53;

fn parse_tokens(text: &str) -> Option<u64> {
    let (digits, factor) = match text.as_bytes().last()? {
        b'k' | b'K' => (&text[..text.len() - 1], 1_000),
        b'm' | b'M' => (&text[..text.len() - 1], 1_000_000),
        _ => (text, 1),
    };
    plain_number(digits)?.checked_mul(factor).filter(|n| *n <= LARGEST)
}

fn parse_usd(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    if fraction.len() > 6 {
        return None;
    }
    let scale = 10_u64.pow(u32::try_from(6 - fraction.len()).ok()?);
    let micro = plain_number(whole)?.checked_mul(1_000_000)?.checked_add(plain_number(fraction)? * scale)?;
    (micro <= LARGEST).then_some(micro)
}

/// Digits only: `parse` alone would also take a sign.
fn plain_number(text: &str) -> Option<u64> {
    (!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
}

/// Dollars as people write them: cents always, smaller parts where there are any.
pub fn dollars(micro: u64) -> String {
    let all = format!("{}.{:06}", micro / 1_000_000, micro % 1_000_000);
    let cents = all.len() - 4;
    format!("{}{}", &all[..cents], all[cents..].trim_end_matches('0'))
}

impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        let spans = [("time", self.seconds), ("idle", self.idle_seconds)];
        for (name, seconds) in spans.into_iter().filter_map(|(name, seconds)| Some((name, seconds?))) {
            parts.push(format!("{name}={}", Span(std::time::Duration::from_secs(seconds))));
        }
        if let Some(tokens) = self.tokens {
            parts.push(format!("tokens={tokens}"));
        }
        if let Some(micro) = self.micro_usd {
            parts.push(format!("usd={}", dollars(micro)));
        }
        f.write_str(&parts.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_as_people_write_them() {
        let limits = ["time=30m", "idle=10m", "tokens=200k", "usd=2.50"]
            .iter()
            .fold(Limits::default(), |limits, text| limits.with(text.parse().unwrap()));
        let expected = Limits {
            seconds: Some(1_800),
            idle_seconds: Some(600),
            tokens: Some(200_000),
            micro_usd: Some(2_500_000),
        };
        assert_eq!(limits, expected);
        assert_eq!(limits.to_string(), "time=30m idle=10m tokens=200000 usd=2.50");
        assert_eq!(Limits::default().with("usd=0.001".parse().unwrap()).to_string(), "usd=0.001");
        assert_eq!(limits.with("tokens=none".parse().unwrap()).tokens, None);
    }

    #[test]
    fn wrong_limits_are_refused() {
        for wrong in [
            "",
            "time",
            "time=",
            "time=0",
            "tokens=-1",
            "tokens=1.5k",
            "usd=1.2345678",
            "usd=+1",
            "usd=.5",
            "eur=1",
            "tokens=99999999999999999999",
        ] {
            assert!(wrong.parse::<Limit>().is_err(), "{wrong:?} was accepted");
        }
    }
}
