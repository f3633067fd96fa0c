//! What one person's terminal should show of a screen.

use super::cell::{Attributes, Cell, CellWidth, Style};
use super::row::Row;
use super::{CursorPosition, Screen};
use crate::TerminalSize;

#[derive(Debug)]
pub(super) struct Frame {
    pub(super) rows: Vec<Row>,
    pub(super) cursor: CursorPosition,
}

impl Frame {
    /// As a terminal is after it was cleared.
    pub(super) fn blank(size: TerminalSize) -> Self {
        let rows = vec![Row::default(); usize::from(size.rows())];
        Self { rows, cursor: CursorPosition { column: 0, row: 0 } }
    }

    /// The part of a screen that begins at `origin`. What is beyond the screen stays empty, behind a border.
    pub(super) fn of(screen: &Screen, size: TerminalSize, origin: CursorPosition) -> Self {
        let mut frame = Self::blank(size);
        let source = screen.emulator.grid().rows().iter().skip(usize::from(origin.row));
        for (row, shown) in frame.rows.iter_mut().zip(source) {
            *row = shown.part(origin.column, size.columns());
        }
        frame.add_border(screen.size(), size);
        let cursor = screen.cursor();
        frame.cursor = CursorPosition {
            column: (cursor.column - origin.column).min(size.columns() - 1),
            row: (cursor.row - origin.row).min(size.rows() - 1),
        };
        frame
    }

    /// Where the screen ends, if it is smaller than the terminal.
    fn add_border(&mut self, screen: TerminalSize, size: TerminalSize) {
        let line = |character| {
            let mut style = Style::default();
            style.attributes.insert(Attributes::DIM);
            Cell::new(character, CellWidth::Narrow, style)
        };
        let has_right = screen.columns() < size.columns();
        if has_right {
            let beside = self.rows.iter_mut().take(usize::from(screen.rows()));
            beside.for_each(|row| row.put(screen.columns(), line('│')));
        }
        if let Some(below) = self.rows.get_mut(usize::from(screen.rows())) {
            (0..screen.columns().min(size.columns())).for_each(|column| below.put(column, line('─')));
            if has_right {
                below.put(screen.columns(), line('┘'));
            }
        }
    }
}

/// Where a terminal that is smaller than the screen has to begin so that it shows the cursor, if it began at `before`.
pub(super) fn follow(before: CursorPosition, screen: &Screen, size: TerminalSize) -> CursorPosition {
    let cursor = screen.cursor();
    CursorPosition {
        column: nearest(before.column, cursor.column, size.columns(), screen.size().columns()),
        row: nearest(before.row, cursor.row, size.rows(), screen.size().rows()),
    }
}

fn nearest(before: u16, cursor: u16, shown: u16, all: u16) -> u16 {
    let last = all.saturating_sub(shown);
    before.clamp((cursor + 1).saturating_sub(shown), cursor).min(last)
}
