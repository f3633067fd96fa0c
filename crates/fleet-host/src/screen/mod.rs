//! Terminals in memory: what a program in a pseudo-terminal shows, and how others get to see it.
//!
//! Owns two things. A [`Screen`] is the terminal of a program: output goes in, text, cursor and modes can be read, and
//! answers to the program's questions come out. A [`ClientView`] brings the terminal of a person to show the same.
//!
//! Must never pass on what a program wrote: a view draws what the screen shows, with its own short list of sequences, so that
//! no title, clipboard, link, file or question of a program reaches a person's terminal. Memory is bounded whatever a
//! program writes: a screen of 200 by 50 takes less than 2 MB with its history. `docs/dependencies.md` has measurements, and
//! why no crate does this here.

mod cell;
mod charset;
mod csi;
mod emulator;
mod frame;
mod grid;
mod history;
mod modes;
mod paint;
mod reply;
mod row;
mod sgr;
mod view;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;

use emulator::Emulator;
use row::Row;
use vte::Parser;

use crate::TerminalSize;

pub use cell::{Attributes, Colour, Style};
pub use modes::{CursorShape, Modes, MouseEncoding, MouseReports};
pub use view::ClientView;

/// The terminal of a program, without a window.
pub struct Screen {
    parser: Parser,
    emulator: Emulator,
    generation: u64,
}

/// Counted from zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CursorPosition {
    pub column: u16,
    pub row: u16,
}

impl fmt::Debug for Screen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Screen").field("size", &self.size()).finish_non_exhaustive()
    }
}

impl Screen {
    pub fn new(size: TerminalSize) -> Self {
        Self { parser: Parser::new(), emulator: Emulator::new(size), generation: 0 }
    }

    /// Takes output of the program, in pieces of any size. Returns what its terminal would answer, to be written to it: a few
    /// hundred bytes at most.
    #[must_use]
    pub fn feed(&mut self, output: &[u8]) -> Vec<u8> {
        if output.is_empty() {
            return Vec::new();
        }
        self.parser.advance(&mut self.emulator, output);
        self.generation += 1;
        self.emulator.replies.take()
    }

    /// Lines are not wrapped again: programs draw anew when they learn of the new size. What does not fit any more is kept,
    /// and shown again when there is room, unless the program has written over it.
    pub fn resize(&mut self, size: TerminalSize) {
        if size != self.emulator.size {
            self.emulator.resize(size);
            self.generation += 1;
        }
    }

    pub fn size(&self) -> TerminalSize {
        self.emulator.size
    }

    /// Every line, without the blanks at its end.
    pub fn text(&self) -> Vec<String> {
        self.emulator.grid().rows().iter().map(Row::text).collect()
    }

    /// The newest lines that have left the screen at its top, and those on the screen down to the last that is not blank.
    pub fn history(&self, max_lines: usize) -> Vec<String> {
        let mut shown = self.text();
        let end = shown.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
        shown.truncate(end);
        let older = max_lines.saturating_sub(shown.len());
        let above = self.emulator.lines_above();
        let skipped = above.clone().count().saturating_sub(older);
        let surplus = shown.len().saturating_sub(max_lines);
        above.skip(skipped).map(Cow::into_owned).chain(shown.drain(surplus..)).collect()
    }

    pub fn cursor(&self) -> CursorPosition {
        let cursor = self.emulator.grid().cursor;
        CursorPosition { column: cursor.column, row: cursor.row }
    }

    pub fn modes(&self) -> Modes {
        self.emulator.modes
    }

    /// Another number whenever something else is shown. It may also be another one when nothing has changed.
    pub fn generation(&self) -> u64 {
        self.generation
    }
}
