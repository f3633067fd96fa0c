//! The bytes that a person's terminal gets: text, colours, cursor movement, erasing and a few modes, and nothing else.

use std::io::Write as _;

use super::CursorPosition;
use super::cell::{Attributes, Cell, CellWidth, Colour, Style};
use super::modes::{Modes, MouseEncoding, MouseReports};
use super::row::Row;

/// Writes to memory, which cannot fail.
macro_rules! emit {
    ($to:expr, $($format:tt)*) => {{
        let _ = write!($to, $($format)*);
    }};
}

#[derive(Debug, Default)]
pub(super) struct Painter {
    out: Vec<u8>,
    /// The style that the terminal writes with. `None` when it is unknown.
    style: Option<Style>,
}

impl Painter {
    /// Begins with an empty terminal.
    pub(super) fn clearing() -> Self {
        let mut painter = Self::default();
        painter.set_style(Style::default());
        emit!(painter.out, "\x1b[2J");
        painter
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.out
    }

    pub(super) fn move_to(&mut self, to: CursorPosition) {
        emit!(self.out, "\x1b[{};{}H", to.row + 1, to.column + 1);
    }

    /// Draws what differs in a line.
    pub(super) fn row(&mut self, row: u16, before: &Row, now: &Row) {
        let end = before.used().max(now.used());
        let differs = |column: &u16| before.cell(*column) != now.cell(*column);
        let Some(first) = (0..end).find(differs) else { return };
        let last = (first..end).rev().find(differs).unwrap_or(first);
        let text_end = (first..now.used()).rev().find(|column| now.cell(*column) != Cell::default());
        self.move_to(CursorPosition { column: first, row });
        let text_end = text_end.map_or(first, |column| column + 1);
        self.cells(now, first, text_end.min(last + 1));
        if text_end <= last {
            self.set_style(Style::default());
            emit!(self.out, "\x1b[K");
        }
    }

    fn cells(&mut self, row: &Row, from: u16, to: u16) {
        let mut at_its_column = true;
        for column in from..to {
            let cell = row.cell(column);
            if cell.width == CellWidth::SecondHalf {
                continue;
            }
            if !at_its_column {
                emit!(self.out, "\x1b[{}G", column + 1);
            }
            self.set_style(cell.style);
            let text = if cell.text().is_empty() { " " } else { cell.text() };
            self.out.extend_from_slice(text.as_bytes());
            at_its_column = has_certain_width(text);
        }
    }

    fn set_style(&mut self, style: Style) {
        if self.style != Some(style) {
            self.style = Some(style);
            emit!(self.out, "\x1b[0");
            for (attribute, code) in Attributes::CODES {
                if style.attributes.contains(attribute) {
                    emit!(self.out, ";{code}");
                }
            }
            self.colour(style.foreground, 38);
            self.colour(style.background, 48);
            emit!(self.out, "m");
        }
    }

    fn colour(&mut self, colour: Colour, code: u8) {
        match colour {
            Colour::Default => {}
            Colour::Indexed(index) => emit!(self.out, ";{code};5;{index}"),
            Colour::Rgb(red, green, blue) => emit!(self.out, ";{code};2;{red};{green};{blue}"),
        }
    }

    /// What is reset comes first: terminals reset all reports of the mouse together.
    pub(super) fn modes(&mut self, before: Modes, now: Modes) {
        for on in [false, true] {
            for number in [1, 25, 1004, 2004] {
                self.switch(number, before, now, on);
            }
            for (_, number) in MouseReports::NUMBERS {
                self.switch(number, before, now, on);
            }
            for (_, number) in MouseEncoding::NUMBERS {
                self.switch(number, before, now, on);
            }
        }
        if before.application_keypad != now.application_keypad {
            emit!(self.out, "\x1b{}", if now.application_keypad { '=' } else { '>' });
        }
        if before.cursor_shape != now.cursor_shape {
            emit!(self.out, "\x1b[{} q", now.cursor_shape.number());
        }
    }

    /// Writes that a mode is set or reset, whichever is asked for, if that is new.
    fn switch(&mut self, number: u16, before: Modes, now: Modes, on: bool) {
        if now.is_set(number) == Some(on) && before.is_set(number) != Some(on) {
            emit!(self.out, "\x1b[?{number}{}", if on { 'h' } else { 'l' });
        }
    }
}

/// Whether all terminals agree that this takes one column. After anything else the cursor is set anew, so that a terminal
/// that draws an emoji wider or narrower than we think does not move the rest of the line.
fn has_certain_width(text: &str) -> bool {
    let mut characters = text.chars();
    let first = characters.next();
    let is_plain = matches!(
        first,
        Some(
            ' '..='~'
            | '\u{a1}'..='\u{ac}'
            | '\u{ae}'..='\u{24f}'
            | '\u{2500}'..='\u{259f}'
            | '\u{2800}'..='\u{28ff}',
        )
    );
    is_plain && characters.next().is_none()
}
