//! The lines of a screen and the cursor in them.
//!
//! Owns where things go. Every position is within the grid, whatever a program asks for.

use super::cell::{Cell, CellWidth, Style};
use super::row::Row;
use crate::TerminalSize;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) row: u16,
    pub(super) column: u16,
    /// The last column was written: the next character goes to the next line.
    pub(super) wraps: bool,
}

#[derive(Debug)]
pub(super) struct Grid {
    size: TerminalSize,
    rows: Vec<Row>,
    /// The lines that a lower screen does not show: those above it, until lines scroll away after them, and those below it,
    /// until lines scroll or are erased there.
    above: Vec<Row>,
    below: Vec<Row>,
    pub(super) cursor: Position,
    /// The lines that scroll: the first one, and the last one.
    region: (u16, u16),
}

impl Grid {
    pub(super) fn new(size: TerminalSize) -> Self {
        let rows = vec![Row::default(); usize::from(size.rows())];
        let (above, below) = (Vec::new(), Vec::new());
        Self { size, rows, above, below, cursor: Position::default(), region: (0, size.rows() - 1) }
    }

    /// The lines right above the first one that a lower screen does not show.
    pub(super) fn above(&self) -> &[Row] {
        &self.above
    }

    pub(super) fn take_above(&mut self) -> Vec<Row> {
        std::mem::take(&mut self.above)
    }

    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    pub(super) fn region(&self) -> (u16, u16) {
        self.region
    }

    /// False, and nothing has changed, unless it has two lines.
    #[must_use]
    pub(super) fn set_region(&mut self, top: u16, bottom: u16) -> bool {
        let bottom = bottom.min(self.size.rows() - 1);
        let is_valid = top < bottom;
        if is_valid {
            self.region = (top, bottom);
        }
        is_valid
    }

    pub(super) fn reset_region(&mut self) {
        self.region = (0, self.size.rows() - 1);
    }

    /// What does not fit is kept for a larger screen: columns at the right, lines at the top as far as the line of the
    /// cursor stays, and lines at the bottom.
    pub(super) fn resize(&mut self, size: TerminalSize) {
        let (shown, added) = (usize::from(size.rows()), size.rows().saturating_sub(self.size.rows()));
        let mut rows = self.take_above();
        // Lines come back from above only into new ones: what is shown moves no further than it has to.
        let stays = rows.len().saturating_sub(usize::from(added));
        let cursor = rows.len() + usize::from(self.cursor.row);
        let leaving = (cursor + 1).saturating_sub(shown).max(stays);
        rows.append(&mut self.rows);
        rows.append(&mut self.below);
        self.rows = rows.split_off(leaving);
        self.above = rows;
        if self.rows.len() > shown {
            self.below = self.rows.split_off(shown);
        }
        self.rows.resize_with(shown, Row::default);
        for row in &mut self.rows {
            row.fit(size.columns());
        }
        self.size = size;
        self.reset_region();
        self.move_to(u16::try_from(cursor - leaving).unwrap_or(u16::MAX), self.cursor.column);
    }

    pub(super) fn move_to(&mut self, row: u16, column: u16) {
        self.cursor = Position {
            row: row.min(self.size.rows() - 1),
            column: column.min(self.size.columns() - 1),
            wraps: false,
        };
    }

    /// Moves up; out of the lines that scroll only if it is outside already.
    pub(super) fn move_up(&mut self, count: u16) {
        let first = if self.cursor.row >= self.region.0 { self.region.0 } else { 0 };
        self.move_to(self.cursor.row.saturating_sub(count).max(first), self.cursor.column);
    }

    pub(super) fn move_down(&mut self, count: u16) {
        let last = if self.cursor.row <= self.region.1 { self.region.1 } else { self.size.rows() - 1 };
        self.move_to(self.cursor.row.saturating_add(count).min(last), self.cursor.column);
    }

    pub(super) fn move_right(&mut self, count: u16) {
        self.move_to(self.cursor.row, self.cursor.column.saturating_add(count));
    }

    pub(super) fn move_left(&mut self, count: u16) {
        self.move_to(self.cursor.row, self.cursor.column.saturating_sub(count));
    }

    /// To the next line, which scrolls at the end. `leaving` gets what leaves the screen.
    pub(super) fn line_feed(&mut self, style: Style, leaving: &mut dyn FnMut(&Row)) {
        self.cursor.wraps = false;
        if self.cursor.row == self.region.1 {
            self.scroll_up(1, style, leaving);
        } else {
            self.move_down(1);
        }
    }

    pub(super) fn reverse_line_feed(&mut self, style: Style) {
        if self.cursor.row == self.region.0 {
            self.scroll_down(1, style);
        } else {
            self.move_up(1);
        }
    }

    /// `leaving` gets the lines that leave the screen: none where the lines that scroll do not begin at the top.
    pub(super) fn scroll_up(&mut self, count: u16, style: Style, leaving: &mut dyn FnMut(&Row)) {
        let (top, bottom) = self.region;
        if top == 0 {
            let above = self.take_above();
            let scrolled = self.rows[..=usize::from(bottom)].iter().take(usize::from(count));
            above.iter().chain(scrolled).for_each(leaving);
        }
        self.remove_lines(top, bottom, count, style);
    }

    pub(super) fn scroll_down(&mut self, count: u16, style: Style) {
        let (top, bottom) = self.region;
        self.add_lines(top, bottom, count, style);
    }

    pub(super) fn insert_lines(&mut self, count: u16, style: Style) {
        if (self.region.0..=self.region.1).contains(&self.cursor.row) {
            self.add_lines(self.cursor.row, self.region.1, count, style);
        }
    }

    pub(super) fn delete_lines(&mut self, count: u16, style: Style) {
        if (self.region.0..=self.region.1).contains(&self.cursor.row) {
            self.remove_lines(self.cursor.row, self.region.1, count, style);
        }
    }

    fn remove_lines(&mut self, top: u16, bottom: u16, count: u16, style: Style) {
        self.below.clear();
        let lines = &mut self.rows[usize::from(top)..=usize::from(bottom)];
        let count = usize::from(count).min(lines.len());
        lines.rotate_left(count);
        let kept = lines.len() - count;
        lines[kept..].iter_mut().for_each(|row| row.erase(0, self.size.columns(), style));
    }

    fn add_lines(&mut self, top: u16, bottom: u16, count: u16, style: Style) {
        self.below.clear();
        let lines = &mut self.rows[usize::from(top)..=usize::from(bottom)];
        let count = usize::from(count).min(lines.len());
        lines.rotate_right(count);
        lines[..count].iter_mut().for_each(|row| row.erase(0, self.size.columns(), style));
    }

    pub(super) fn erase_lines(&mut self, lines: std::ops::Range<u16>, style: Style) {
        let end = usize::from(lines.end).min(self.rows.len());
        if end == self.rows.len() {
            self.below.clear();
        }
        if let Some(erased) = self.rows.get_mut(usize::from(lines.start)..end) {
            for row in erased {
                row.erase(0, self.size.columns(), style);
            }
        }
    }

    pub(super) fn erase_columns(&mut self, columns: std::ops::Range<u16>, style: Style) {
        let end = columns.end.min(self.size.columns());
        self.cursor.wraps = false;
        if columns.start < end {
            self.row_mut().erase(columns.start, end, style);
        }
    }

    pub(super) fn insert_cells(&mut self, count: u16, style: Style) {
        let (column, end) = (self.cursor.column, self.size.columns());
        self.cursor.wraps = false;
        self.row_mut().insert(column, count, end, style);
    }

    pub(super) fn delete_cells(&mut self, count: u16, style: Style) {
        let (column, end) = (self.cursor.column, self.size.columns());
        self.cursor.wraps = false;
        self.row_mut().delete(column, count, end, style);
    }

    /// Writes at the cursor and moves it on. The caller has made sure that there is room.
    pub(super) fn put(&mut self, cell: Cell) {
        let column = self.cursor.column;
        self.row_mut().put(column, cell);
        self.advance(if cell.width == CellWidth::Wide { 2 } else { 1 });
    }

    fn advance(&mut self, columns: u16) {
        let next = self.cursor.column + columns;
        self.cursor.wraps = next >= self.size.columns();
        self.cursor.column = next.min(self.size.columns() - 1);
    }

    /// Adds a combining character to the one before the cursor.
    pub(super) fn combine(&mut self, character: char) {
        let before =
            if self.cursor.wraps { Some(self.cursor.column) } else { self.cursor.column.checked_sub(1) };
        let columns = self.size.columns();
        let row = &mut self.rows[usize::from(self.cursor.row)];
        let Some(start) = before.map(|column| row.start_of_character(column)) else { return };
        let (cell, was_wide) =
            (row.cell(start).combined_with(character), row.cell(start).width == CellWidth::Wide);
        if was_wide || cell.width == CellWidth::Narrow {
            row.put(start, cell);
        } else if start + 1 < columns {
            row.put(start, cell);
            self.advance(1);
        }
        // In the last column there is no room for a second half: the character stays as it is.
    }

    fn row_mut(&mut self) -> &mut Row {
        &mut self.rows[usize::from(self.cursor.row)]
    }
}
