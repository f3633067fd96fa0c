//! For terminals: a block of lines that is drawn over itself.
//!
//! Only cursor movements, and each frame in one write: nothing is erased before something else stands there, so nothing
//! flickers. The movements do not depend on colours, which the lines bring themselves.

use std::fmt::Write as _;

use fleet_core::problem::Outcome;
use fleet_core::time::Millis;

use super::rows::{Fit, FollowedRow, block};
use crate::output::print;

/// What a terminal shows when it does not tell its size.
const USUAL_HEIGHT: usize = 24;
/// Lines of a block that are no work: the header, and what is left out.
const OTHERS: usize = 2;

#[derive(Debug, Default)]
pub(super) struct Screen {
    drawn: Vec<String>,
    fit: Fit,
}

impl Screen {
    /// Draws as many rows as fit.
    pub(super) fn show<R: FollowedRow>(&mut self, rows: &[R], now: Millis) -> Outcome<()> {
        let lines = block(rows, Some(room()), &mut self.fit, now);
        self.draw(lines)
    }

    /// Draws all of them: what does not fit rolls up.
    pub(super) fn show_all<R: FollowedRow>(&mut self, rows: &[R], now: Millis) -> Outcome<()> {
        let lines = block(rows, None, &mut self.fit, now);
        self.draw(lines)
    }

    /// Draws these lines in the place of the last ones.
    fn draw(&mut self, lines: Vec<String>) -> Outcome<()> {
        if lines == self.drawn {
            return Ok(());
        }
        let text = frame(self.drawn.len(), &lines);
        self.drawn = lines;
        print(&text)
    }
}

/// How many rows of work fit.
fn room() -> usize {
    let height = terminal_size::terminal_size().map_or(USUAL_HEIGHT, |(_, height)| usize::from(height.0));
    // The cursor stands below the block.
    height.saturating_sub(OTHERS + 1).max(1)
}

/// The text that replaces the last lines on the screen by these.
pub(super) fn frame(above: usize, lines: &[String]) -> String {
    let mut out = String::new();
    if above > 0 {
        // To the beginning of the first line. Writing to a string cannot fail.
        let _ = write!(out, "\x1b[{above}F");
    }
    for (at, line) in lines.iter().enumerate() {
        // What is left of an older line, and below the last one of an older block, is erased.
        let erase = if at + 1 == lines.len() { "\x1b[J" } else { "\x1b[K" };
        out.push_str(line);
        out.push_str(erase);
        out.push('\n');
    }
    out
}
