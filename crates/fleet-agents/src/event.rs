//! What an agent's output means, in words that all agents share.

use std::fmt;
use std::time::Duration;

use fleet_core::run::Reason;
use fleet_core::text::shortened;
use fleet_core::time::Millis;

use crate::adapter::Stream;

/// One thing that an agent did or said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentEvent {
    /// The conversation has an id, by which a later run can continue it.
    SessionStarted {
        /// The agent's own id.
        session: String,
    },
    /// The directory that it works in, as it says itself.
    WorksIn {
        /// The directory.
        directory: String,
    },
    /// The model that answers, by its full name.
    Model {
        /// The name.
        model: String,
    },
    /// It said something.
    Text {
        /// The words.
        text: String,
    },
    /// It thought something, as far as it shows that.
    Reasoning {
        /// The words.
        text: String,
    },
    /// It began to use a tool.
    ToolCall {
        /// What ties the result to the call.
        id: String,
        /// The agent's own name for the tool.
        name: String,
        /// What it is used on, in one line.
        input_summary: String,
        /// The files that the call names.
        files: Vec<String>,
    },
    /// A tool came to its end.
    ToolResult {
        /// Of which call; empty if the agent does not tell.
        id: String,
        /// Whether it worked.
        ok: bool,
        /// What came of it, shortened.
        summary: String,
        /// The files that the result names.
        files: Vec<String>,
    },
    /// Tokens were used.
    Usage {
        /// How many of each kind.
        tokens: Tokens,
        /// Of what these are the numbers.
        counted: Counted,
    },
    /// Money was spent, by the agent's own account.
    Cost {
        /// Millionths of a US dollar.
        micro_usd: u64,
        /// Of what this is the number.
        counted: Counted,
    },
    /// The provider limits the account.
    RateLimit {
        /// When it is over, if that was said.
        until: Option<When>,
        /// The agent's words.
        text: String,
    },
    /// The agent tries a request again by itself.
    Retry {
        /// Which attempt comes next, if that was said.
        attempt: Option<u32>,
        /// How long it waits, if that was said.
        wait: Option<Duration>,
        /// The agent's words.
        text: String,
    },
    /// The agent wanted to use a tool and was not allowed to.
    Denied {
        /// The tool.
        tool: String,
        /// The agent's words.
        text: String,
    },
    /// Something went wrong. Only [`crate::Decoder::failure`] says whether that ended the run; but an agent whose
    /// error is [`Reason::is_hopeless`] is stopped at once, so those are only for what the provider itself refused.
    Error {
        /// What kind of thing.
        reason: Reason,
        /// The agent's words.
        text: String,
    },
    /// Something that people may want to know and that did not go wrong.
    Warning {
        /// The agent's words.
        text: String,
    },
    /// It asks a person and does not go on without an answer.
    Question {
        /// The question.
        text: String,
    },
    /// It says that it is through. The process may live on for a while.
    Ended {
        /// The last thing it said, which may hold a report.
        text: Option<String>,
    },
    /// A line that means nothing to the adapter.
    Raw {
        /// Where it came from.
        stream: Stream,
        /// The line, with replacement characters where it is not text.
        text: String,
        /// Whether there is more of it in the raw log.
        cut: bool,
    },
}

/// Tokens by kind; no token is counted in two of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Read by the model, cached ones not counted.
    pub input: u64,
    /// Written by the model.
    pub output: u64,
    /// Read from the provider's cache.
    pub cache_read: u64,
    /// Written to the provider's cache.
    pub cache_write: u64,
}

/// The counters of an agent that counts over a whole conversation, however many processes took part in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Meter {
    /// Tokens.
    pub tokens: Tokens,
    /// Millionths of a US dollar.
    pub micro_usd: u64,
}

impl From<fleet_core::run::Meter> for Meter {
    fn from(kept: fleet_core::run::Meter) -> Self {
        let fleet_core::run::Meter { input, output, cache_read, cache_write, micro_usd } = kept;
        Self { tokens: Tokens { input, output, cache_read, cache_write }, micro_usd }
    }
}

impl From<Meter> for fleet_core::run::Meter {
    fn from(meter: Meter) -> Self {
        let Meter { tokens: Tokens { input, output, cache_read, cache_write }, micro_usd } = meter;
        Self { input, output, cache_read, cache_write, micro_usd }
    }
}

/// What a number of tokens or an amount of money is the number of: agents differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// Of what happened since the last such event: to be added.
    Delta,
    /// Of the run so far: replaces what was known.
    Total,
}

impl Counted {
    /// A number after another was told in this way.
    #[must_use]
    pub const fn after(self, before: u64, told: u64) -> u64 {
        match self {
            Self::Delta => before.saturating_add(told),
            Self::Total => told,
        }
    }
}

impl Tokens {
    /// What these have more than others.
    #[must_use]
    pub const fn less(self, others: Self) -> Self {
        Self {
            input: self.input.saturating_sub(others.input),
            output: self.output.saturating_sub(others.output),
            cache_read: self.cache_read.saturating_sub(others.cache_read),
            cache_write: self.cache_write.saturating_sub(others.cache_write),
        }
    }

    /// These after others were told in this way.
    #[must_use]
    pub const fn then(self, told: Self, counted: Counted) -> Self {
        Self {
            input: counted.after(self.input, told.input),
            output: counted.after(self.output, told.output),
            cache_read: counted.after(self.cache_read, told.cache_read),
            cache_write: counted.after(self.cache_write, told.cache_write),
        }
    }
}

/// A moment in the future, as it was told. Decoders have no clock, so a span stays one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// At this moment.
    At(Millis),
    /// After this span, counted from when the line was written.
    After(Duration),
    /// At this time by the clock on the wall, in the zone of the machine that the agent runs on.
    Local(LocalTime),
}

/// A time by the clock on the wall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalTime {
    /// Year, month and day; without them it is today.
    pub date: Option<(i16, i8, i8)>,
    /// From 0 to 23.
    pub hour: i8,
    /// From 0 to 59.
    pub minute: i8,
}

impl fmt::Display for LocalTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((year, month, day)) = self.date {
            write!(f, "{year:04}-{month:02}-{day:02} ")?;
        }
        write!(f, "{:02}:{:02}", self.hour, self.minute)
    }
}

/// The longest raw line that becomes an event; the log has the rest.
const LONGEST_RAW: usize = 4 * 1024;

impl AgentEvent {
    /// For a line that was not understood. A line without any content is no event.
    pub fn raw(stream: Stream, line: &[u8], cut: bool) -> Option<Self> {
        let line = line.trim_ascii_end();
        if line.is_empty() && !cut {
            return None;
        }
        // Cut before it is made text: what is not UTF-8 grows threefold.
        let kept = &line[..line.len().min(LONGEST_RAW)];
        let text = String::from_utf8_lossy(kept);
        let cut = cut || kept.len() < line.len();
        Some(Self::Raw { stream, text: shortened(&text, LONGEST_RAW).into_owned(), cut })
    }
}
