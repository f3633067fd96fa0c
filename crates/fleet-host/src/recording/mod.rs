//! Recordings of terminals, in the format of asciinema (asciicast, version 2).
//!
//! Owns files of one JSON header and one JSON line for each event. Must never let a recording reach a person's terminal as it
//! is: it holds what a program printed, and may have been written by anyone. [`Player`] draws it instead.

mod player;
mod read;
mod text;
mod write;

#[cfg(test)]
mod tests;

use std::time::Duration;

use crate::TerminalSize;

pub use player::{Playback, Player, Step};
pub use read::RecordingReader;
pub use write::Recording;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedEvent {
    /// Since the beginning of the recording.
    pub time: Duration,
    pub what: Recorded,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recorded {
    Output(String),
    Resize(TerminalSize),
    /// A remark, such as that the recording ends here because it is large enough.
    Marker(String),
}

/// The longest line that is read. What is written is shorter: output becomes at most six times as long in JSON.
const MAX_LINE: u64 = 1 << 20;
