//! Moments in the future, as agents name them.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::time::Millis;

/// A moment in the future, as it was reported. Decoders have no clock, so a span stays one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Json", into = "Json")]
pub enum When {
    /// At this moment.
    At(Millis),
    /// After this span, counted from when the line was written.
    After(Duration),
    /// At this local time of the machine that the agent runs on.
    Local(LocalTime),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalTime {
    /// Year, month and day; without them it is today.
    pub date: Option<(i16, i8, i8)>,
    pub hour: i8,
    pub minute: i8,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Json {
    At(Millis),
    After {
        after_ms: u64,
    },
    Local {
        #[schemars(example = &"2026-01-31 13:45")]
        local: String,
    },
}

impl From<When> for Json {
    fn from(when: When) -> Self {
        match when {
            When::At(at) => Self::At(at),
            When::After(span) => {
                Self::After { after_ms: u64::try_from(span.as_millis()).unwrap_or(u64::MAX) }
            }
            When::Local(time) => Self::Local { local: time.to_string() },
        }
    }
}

impl TryFrom<Json> for When {
    type Error = String;

    fn try_from(json: Json) -> Result<Self, String> {
        match json {
            Json::At(at) => Ok(Self::At(at)),
            Json::After { after_ms } => Ok(Self::After(Duration::from_millis(after_ms))),
            Json::Local { local } => LocalTime::parse(&local)
                .map(Self::Local)
                .ok_or_else(|| format!("{local:?} is not a local time")),
        }
    }
}

impl LocalTime {
    fn parse(text: &str) -> Option<Self> {
        let (date, time) = text.rsplit_once(' ').map_or((None, text), |(date, time)| (Some(date), time));
        let (hour, minute) = time.split_once(':')?;
        let date = match date {
            None => None,
            Some(date) => {
                let mut parts = date.splitn(3, '-');
                let year = parts.next()?.parse().ok()?;
                Some((year, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
            }
        };
        Some(Self { date, hour: hour.parse().ok()?, minute: minute.parse().ok()? })
    }
}

impl fmt::Display for LocalTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((year, month, day)) = self.date {
            write!(f, "{year:04}-{month:02}-{day:02} ")?;
        }
        write!(f, "{:02}:{:02}", self.hour, self.minute)
    }
}
