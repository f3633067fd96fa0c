//! The lines that have left the top of a screen, as text.
//!
//! Keeps no colours: they would take ten times the memory, and what reads the history reads text.

use std::collections::VecDeque;

/// How many lines are kept.
const LINES: usize = 1000;

/// How much they take at most: a line of combining characters can be long.
const BYTES: usize = 1 << 20;

#[derive(Debug, Default)]
pub(super) struct History {
    lines: VecDeque<Box<str>>,
    bytes: usize,
}

impl History {
    pub(super) fn push(&mut self, line: String) {
        self.bytes += line.len();
        self.lines.push_back(line.into_boxed_str());
        while self.lines.len() > LINES || self.bytes > BYTES {
            self.bytes -= self.lines.pop_front().map_or(self.bytes, |line| line.len());
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = &str> + Clone {
        self.lines.iter().map(AsRef::as_ref)
    }
}
