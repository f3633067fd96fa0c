//! What the output of a program does to its screen.
//!
//! Owns the state of a terminal. Must never act on anything outside: titles, clipboards, links and files that a program
//! asks for are ignored, and answers to its questions are collected for the caller.

use std::borrow::Cow;

use unicode_width::UnicodeWidthChar as _;
use vte::{Params, Perform};

use super::cell::{Cell, CellWidth, Style};
use super::charset::Charsets;
use super::grid::{Grid, Position};
use super::history::History;
use super::modes::Modes;
use super::reply::Replies;
use super::row::Row;
use super::{csi, reply, sgr};
use crate::TerminalSize;

#[derive(Debug)]
pub(super) struct Emulator {
    pub(super) size: TerminalSize,
    primary: Grid,
    /// Only while it is shown.
    alternate: Option<Grid>,
    saved_in_primary: Saved,
    saved_in_alternate: Saved,
    pub(super) style: Style,
    pub(super) modes: Modes,
    /// Positions count from the first line that scrolls (`?6`).
    pub(super) origin: bool,
    /// A line that is full goes on in the next one (`?7`).
    pub(super) autowrap: bool,
    /// What is written moves what follows it (`4`).
    pub(super) insert: bool,
    charsets: Charsets,
    last_printed: Option<char>,
    pub(super) history: History,
    pub(super) replies: Replies,
}

/// What `ESC 7` keeps.
#[derive(Debug, Clone, Copy, Default)]
struct Saved {
    position: Position,
    style: Style,
    origin: bool,
    charsets: Charsets,
}

/// Characters without width that change the order or the lines of the text around them: a program could make a person read
/// something else than what is there.
pub(super) fn is_deceptive(character: char) -> bool {
    matches!(character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

impl Emulator {
    pub(super) fn new(size: TerminalSize) -> Self {
        Self {
            size,
            primary: Grid::new(size),
            alternate: None,
            saved_in_primary: Saved::default(),
            saved_in_alternate: Saved::default(),
            style: Style::default(),
            modes: Modes::default(),
            origin: false,
            autowrap: true,
            insert: false,
            charsets: Charsets::default(),
            last_printed: None,
            history: History::default(),
            replies: Replies::default(),
        }
    }

    pub(super) fn grid(&self) -> &Grid {
        self.alternate.as_ref().unwrap_or(&self.primary)
    }

    pub(super) fn grid_mut(&mut self) -> &mut Grid {
        self.alternate.as_mut().unwrap_or(&mut self.primary)
    }

    pub(super) fn resize(&mut self, size: TerminalSize) {
        if let Some(alternate) = &mut self.alternate {
            alternate.resize(size);
        }
        self.primary.resize(size);
        self.size = size;
    }

    /// The lines that have left the screen at its top, oldest first.
    pub(super) fn lines_above(&self) -> impl Iterator<Item = Cow<'_, str>> + Clone {
        let above = self.primary.above().iter().map(|row| Cow::Owned(row.text()));
        self.history.lines().map(Cow::Borrowed).chain(above)
    }

    pub(super) fn forget_lines_above(&mut self) {
        self.history.clear();
        self.primary.take_above();
    }

    pub(super) fn line_feed(&mut self) {
        let erased = self.style.erased();
        self.scrolling(|grid, leaving| grid.line_feed(erased, leaving));
    }

    pub(super) fn scroll_up(&mut self, count: u16) {
        let erased = self.style.erased();
        self.scrolling(|grid, leaving| grid.scroll_up(count, erased, leaving));
    }

    /// Does something by which lines may leave the screen. The alternate one has no history.
    fn scrolling(&mut self, scroll: impl FnOnce(&mut Grid, &mut dyn FnMut(&Row))) {
        match &mut self.alternate {
            Some(alternate) => scroll(alternate, &mut |_| {}),
            None => scroll(&mut self.primary, &mut |row| self.history.push(row.text())),
        }
    }

    pub(super) fn carriage_return(&mut self) {
        let row = self.grid().cursor.row;
        self.grid_mut().move_to(row, 0);
    }

    pub(super) fn save_cursor(&mut self) {
        let position = self.grid().cursor;
        let saved = Saved { position, style: self.style, origin: self.origin, charsets: self.charsets };
        *self.saved() = saved;
    }

    pub(super) fn restore_cursor(&mut self) {
        let saved = *self.saved();
        (self.style, self.origin, self.charsets) = (saved.style, saved.origin, saved.charsets);
        let Position { row, column, wraps } = saved.position;
        // The screen may have another size since.
        let wraps = wraps && column + 1 == self.size.columns();
        let grid = self.grid_mut();
        grid.move_to(row, column);
        grid.cursor.wraps = wraps;
    }

    fn saved(&mut self) -> &mut Saved {
        if self.alternate.is_some() { &mut self.saved_in_alternate } else { &mut self.saved_in_primary }
    }

    /// The cursor stays where it is.
    pub(super) fn show_alternate(&mut self, shown: bool) {
        if shown == self.alternate.is_some() {
            return;
        }
        let cursor = self.grid().cursor;
        self.alternate = shown.then(|| Grid::new(self.size));
        self.modes.alternate_screen = shown;
        self.grid_mut().move_to(cursor.row, cursor.column);
    }

    /// As after the start, except for what is not shown.
    fn reset(&mut self) {
        for row in self.primary.take_above() {
            self.history.push(row.text());
        }
        let (history, replies) = (std::mem::take(&mut self.history), std::mem::take(&mut self.replies));
        *self = Self { history, replies, ..Self::new(self.size) };
    }

    /// What `CSI ! p` resets: enough for a shell to go on after a program that was killed.
    pub(super) fn soft_reset(&mut self) {
        (self.origin, self.autowrap, self.insert) = (false, true, false);
        self.style = Style::default();
        self.charsets = Charsets::default();
        self.modes.cursor_visible = true;
        (self.modes.application_cursor, self.modes.application_keypad) = (false, false);
        *self.saved() = Saved::default();
        self.grid_mut().reset_region();
    }

    /// At most a line of repetitions: more would be a way to keep the machine busy with a few bytes.
    pub(super) fn repeat(&mut self, count: u16) {
        if let Some(character) = self.last_printed {
            (0..count.min(self.size.columns())).for_each(|_| self.write(character));
        }
    }

    fn write(&mut self, character: char) {
        let width = match character.width() {
            _ if character.is_ascii_graphic() => CellWidth::Narrow,
            None => return,
            Some(0) => return self.grid_mut().combine(character),
            Some(1) => CellWidth::Narrow,
            Some(_) => CellWidth::Wide,
        };
        self.last_printed = Some(character);
        self.make_room(if width == CellWidth::Wide { 2 } else { 1 });
        let cell = Cell::new(character, width, self.style);
        self.grid_mut().put(cell);
    }

    fn make_room(&mut self, columns: u16) {
        let cursor = self.grid().cursor;
        let fits = cursor.column + columns <= self.size.columns();
        if self.autowrap && (cursor.wraps || !fits) {
            self.carriage_return();
            self.line_feed();
        } else if !fits {
            let row = cursor.row;
            let column = self.size.columns() - columns;
            self.grid_mut().move_to(row, column);
        }
        if self.insert {
            let erased = self.style.erased();
            self.grid_mut().insert_cells(columns, erased);
        }
    }
}

impl Perform for Emulator {
    fn print(&mut self, character: char) {
        let character = self.charsets.shown(character);
        if !is_deceptive(character) {
            self.write(character);
        }
    }

    fn execute(&mut self, control: u8) {
        match control {
            0x08 => self.grid_mut().move_left(1),
            b'\t' => csi::tab(self, 1),
            b'\n' | 0x0b | 0x0c => self.line_feed(),
            b'\r' => self.carriage_return(),
            0x0e => self.charsets.use_second(true),
            0x0f => self.charsets.use_second(false),
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], ignore: bool, action: char) {
        match (intermediates, action) {
            _ if ignore => {}
            ([], 'm') => sgr::apply(&mut self.style, params),
            _ => csi::dispatch(self, params, intermediates, action),
        }
    }

    fn esc_dispatch(&mut self, intermediates: &[u8], ignore: bool, last: u8) {
        let erased = self.style.erased();
        match (intermediates, last) {
            _ if ignore => {}
            ([], b'7') => self.save_cursor(),
            ([], b'8') => self.restore_cursor(),
            ([], b'=') => self.modes.application_keypad = true,
            ([], b'>') => self.modes.application_keypad = false,
            ([], b'D') => self.line_feed(),
            ([], b'E') => {
                self.carriage_return();
                self.line_feed();
            }
            ([], b'M') => self.grid_mut().reverse_line_feed(erased),
            ([], b'c') => self.reset(),
            ([slot], set) => self.charsets.designate(*slot, set),
            _ => {}
        }
    }

    fn osc_dispatch(&mut self, params: &[&[u8]], bell_terminated: bool) {
        reply::operating_system_command(self, params, bell_terminated);
    }
}
