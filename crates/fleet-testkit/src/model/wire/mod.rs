//! The four protocols: how a request is read and how an answer is written, each in its own file.
//!
//! Owns everything that a vendor's interface looks like. Must never decide what the model does: that is the script's.

mod chat;
mod gemini;
mod messages;
mod responses;
#[cfg(test)]
mod tests;

use jiff::Timestamp;
use serde_json::Value;

use super::http::{Frame, Headers};
use super::scenario::Wait;
use super::script::{Block, Refusal, Why};
use super::talk::Talk;

/// What every answer says it used, on every protocol; protocols that have no place for a number leave it out.
///
/// In the two of OpenAI and in Google's, the input includes what was read from the cache; in OpenAI's, the output
/// includes the reasoning.
pub const USAGE: Usage = Usage { input: 1111, output: 222, cache_read: 333, cache_write: 44, reasoning: 55 };

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    pub reasoning: u64,
}

/// How long until a used-up plan is good again.
pub const QUOTA_SECONDS: u32 = 3 * 60 * 60;

/// The way an agent speaks to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Anthropic's, spoken by claude.
    Messages,
    /// OpenAI's newer one, spoken by codex.
    Responses,
    /// Google's, spoken by gemini.
    Gemini,
    /// OpenAI's older one, spoken by opencode and many others.
    Chat,
}

impl Protocol {
    /// The protocol that has this path, without its query.
    pub(super) fn of(path: &str) -> Option<Self> {
        if path.contains(":streamGenerateContent") || path.contains(":generateContent") {
            Some(Self::Gemini)
        } else if path.ends_with("/messages") {
            Some(Self::Messages)
        } else if path.ends_with("/responses") {
            Some(Self::Responses)
        } else if path.ends_with("/chat/completions") {
            Some(Self::Chat)
        } else {
            None
        }
    }

    pub(super) fn read(self, path: &str, body: &Value) -> Talk {
        match self {
            Self::Messages => messages::read(body),
            Self::Responses => responses::read(body),
            Self::Gemini => gemini::read(path, body),
            Self::Chat => chat::read(body),
        }
    }

    /// An answer as a stream of events.
    pub(super) fn stream(self, draft: &Draft<'_>) -> Vec<Frame> {
        match self {
            Self::Messages => messages::stream(draft),
            Self::Responses => responses::stream(draft),
            Self::Gemini => gemini::stream(draft),
            Self::Chat => chat::stream(draft),
        }
    }

    /// The same in one piece.
    pub(super) fn whole(self, draft: &Draft<'_>) -> Value {
        match self {
            Self::Messages => messages::whole(draft),
            Self::Responses => responses::whole(draft),
            Self::Gemini => gemini::whole(draft),
            Self::Chat => chat::whole(draft),
        }
    }

    /// A stream that begins well and then says that something is wrong.
    pub(super) fn broken_stream(self, draft: &Draft<'_>, why: Why) -> Vec<Frame> {
        match self {
            Self::Messages => messages::broken_stream(draft, why),
            Self::Responses => responses::broken_stream(draft, why),
            Self::Gemini => gemini::broken_stream(why),
            Self::Chat => chat::broken_stream(draft, why),
        }
    }

    /// An error instead of an answer.
    pub(super) fn refuse(self, refusal: Refusal, now: Timestamp) -> Refused {
        let mut refused = match self {
            Self::Messages => messages::refuse(refusal, now),
            Self::Responses | Self::Chat => responses::refuse(refusal, now),
            Self::Gemini => gemini::refuse(refusal),
        };
        refused.headers.extend(wait(refusal, now));
        refused
    }

    /// Headers that come with an answer when the plan's limit is near.
    pub(super) fn warning(self, now: Timestamp) -> Headers {
        match self {
            Self::Messages => messages::warning(now),
            Self::Responses => responses::warning(now),
            Self::Gemini | Self::Chat => Vec::new(),
        }
    }
}

/// What is to be said, in any protocol.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draft<'a> {
    pub(super) model: &'a str,
    pub(super) blocks: &'a [Block],
    /// Makes the ids of this answer different from all others.
    pub(super) serial: u64,
}

#[derive(Debug, PartialEq)]
pub(super) struct Refused {
    pub(super) code: u16,
    pub(super) headers: Headers,
    pub(super) body: Value,
}

fn wait(refusal: Refusal, now: Timestamp) -> Headers {
    let passes = matches!(refusal.code, 429 | 503 | 529) && refusal.why != Why::Quota;
    let header = match refusal.wait {
        Wait::Usual if passes => ("retry-after", "1".to_owned()),
        Wait::Usual | Wait::Unsaid => return Vec::new(),
        Wait::Seconds(seconds) => ("retry-after", seconds.to_string()),
        Wait::Date(seconds) => ("retry-after", http_date(now.as_second() + i64::from(seconds))),
        Wait::Millis(millis) => ("retry-after-ms", millis.to_string()),
    };
    vec![header]
}

fn http_date(second: i64) -> String {
    let printer = jiff::fmt::rfc2822::DateTimePrinter::new();
    let date = Timestamp::from_second(second).ok();
    date.and_then(|date| printer.timestamp_to_rfc9110_string(&date).ok()).unwrap_or_default()
}

/// The moment at which a used-up plan is good again.
fn reset(now: Timestamp) -> i64 {
    now.as_second() + i64::from(QUOTA_SECONDS)
}

/// An event that carries this, and is called as its `type` says.
fn typed(data: &Value) -> Frame {
    let name = data["type"].as_str().map(str::to_owned);
    Frame { name, data: data.to_string(), speech: false }
}

/// An event without a name.
fn plain(data: &Value) -> Frame {
    Frame { name: None, data: data.to_string(), speech: false }
}

/// The same event, as a piece of what the model says.
fn speech(frame: Frame) -> Frame {
    Frame { speech: true, ..frame }
}
