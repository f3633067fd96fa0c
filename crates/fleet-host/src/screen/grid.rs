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
    pub(super) cursor: Position,
    /// The lines that scroll: the first one, and the last one.
    region: (u16, u16),
}

impl Grid {
    pub(super) fn new(size: TerminalSize) -> Self {
        let rows = vec![Row::default(); usize::from(size.rows())];
        Self { size, rows, cursor: Position::default(), region: (0, size.rows() - 1) }
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

    /// Returns the lines that leave at the top, so that the line of the cursor stays.
    pub(super) fn resize(&mut self, size: TerminalSize) -> Vec<Row> {
        let leaving = (self.cursor.row + 1).saturating_sub(size.rows());
        let gone = self.rows.drain(..usize::from(leaving)).collect();
        self.rows.resize_with(usize::from(size.rows()), Row::default);
        for row in &mut self.rows {
            row.cut(size.columns());
        }
        self.size = size;
        self.reset_region();
        self.move_to(self.cursor.row - leaving, self.cursor.column);
        gone
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
            self.rows[..=usize::from(bottom)].iter().take(usize::from(count)).for_each(leaving);
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
        let lines = &mut self.rows[usize::from(top)..=usize::from(bottom)];
        let count = usize::from(count).min(lines.len());
        lines.rotate_left(count);
        let kept = lines.len() - count;
        lines[kept..].iter_mut().for_each(|row| row.erase(0, self.size.columns(), style));
    }

    fn add_lines(&mut self, top: u16, bottom: u16, count: u16, style: Style) {
        let lines = &mut self.rows[usize::from(top)..=usize::from(bottom)];
        let count = usize::from(count).min(lines.len());
        lines.rotate_right(count);
        lines[..count].iter_mut().for_each(|row| row.erase(0, self.size.columns(), style));
    }

    pub(super) fn erase_lines(&mut self, lines: std::ops::Range<u16>, style: Style) {
        let end = usize::from(lines.end).min(self.rows.len());
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
