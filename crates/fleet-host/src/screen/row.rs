//! One line of a screen.
//!
//! Owns that no half of a wide character stands alone. Keeps only the cells up to the last one that was written, so that
//! blank lines take no memory, and erasing costs a sequence of a few bytes no more than it cost to write.

use super::cell::{Cell, CellWidth, Style};

const CAPACITY_STEP: usize = 64;

#[derive(Debug, Clone, Default)]
pub(super) struct Row {
    /// Those that are missing at the end are blank.
    cells: Vec<Cell>,
    /// What a narrower screen does not show, until something is written to the line.
    cut_off: Option<Box<CutOff>>,
}

#[derive(Debug, Clone)]
struct CutOff {
    /// The column of its first cell.
    from: usize,
    cells: Vec<Cell>,
}

impl Row {
    pub(super) fn cell(&self, column: u16) -> Cell {
        self.cells.get(usize::from(column)).copied().unwrap_or_default()
    }

    /// How many cells may be other than blank.
    pub(super) fn used(&self) -> u16 {
        u16::try_from(self.cells.len()).unwrap_or(u16::MAX)
    }

    pub(super) fn text(&self) -> String {
        let shown = self.cells.iter().filter(|cell| cell.width != CellWidth::SecondHalf);
        let mut text: String =
            shown.map(|cell| if cell.text().is_empty() { " " } else { cell.text() }).collect();
        text.truncate(text.trim_end_matches(' ').len());
        text
    }

    /// Writes a character; a wide one needs a column after this one.
    pub(super) fn put(&mut self, column: u16, cell: Cell) {
        self.cut_off = None;
        let end = column + if cell.width == CellWidth::Wide { 2 } else { 1 };
        self.separate(column);
        self.separate(end);
        self.extend_to(end);
        self.cells[usize::from(column)] = cell;
        if cell.width == CellWidth::Wide {
            let half = Cell::blank(cell.style).with_width(CellWidth::SecondHalf);
            self.cells[usize::from(column) + 1] = half;
        }
    }

    /// Where the character begins that is at this column.
    pub(super) fn start_of_character(&self, column: u16) -> u16 {
        match self.cell(column).width {
            CellWidth::SecondHalf => column.saturating_sub(1),
            CellWidth::Narrow | CellWidth::Wide => column,
        }
    }

    pub(super) fn erase(&mut self, from: u16, to: u16, style: Style) {
        self.cut_off = None;
        self.separate(from);
        self.separate(to);
        if style == Style::default() && to >= self.used() {
            self.cells.truncate(usize::from(from));
            return;
        }
        let to = if style == Style::default() { to.min(self.used()) } else { to };
        self.extend_to(to);
        if let Some(erased) = self.cells.get_mut(usize::from(from)..usize::from(to)) {
            erased.fill(Cell::blank(style));
        }
    }

    /// Moves what is at and after a column to the right; what does not fit is lost.
    pub(super) fn insert(&mut self, column: u16, count: u16, end: u16, style: Style) {
        self.cut_off = None;
        self.separate(column);
        let count = count.min(end.saturating_sub(column));
        self.extend_to(end);
        self.separate(end - count);
        if let Some(moved) = self.cells.get_mut(usize::from(column)..) {
            moved.rotate_right(usize::from(count));
            moved[..usize::from(count)].fill(Cell::blank(style));
        }
    }

    /// Moves what is after some columns to the left, over them.
    pub(super) fn delete(&mut self, column: u16, count: u16, end: u16, style: Style) {
        let count = count.min(end.saturating_sub(column));
        self.separate(column);
        self.separate(column + count);
        self.extend_to(end);
        if let Some(moved) = self.cells.get_mut(usize::from(column)..) {
            moved.rotate_left(usize::from(count));
        }
        self.erase(end - count, end, style);
    }

    /// The screen has another width. What does not fit is kept for a wider one.
    pub(super) fn fit(&mut self, columns: u16) {
        if let Some(cut_off) = self.cut_off.take() {
            self.cells.resize(cut_off.from, Cell::default());
            self.cells.extend(cut_off.cells);
        }
        let columns = usize::from(columns);
        let Some(first) = self.cells.get(columns) else { return };
        // A wide character is cut off whole.
        let from = if first.width == CellWidth::SecondHalf { columns - 1 } else { columns };
        let cells = self.cells.split_off(from);
        if from < columns {
            self.cells.push(Cell::blank(cells[0].style));
        }
        if cells.iter().any(|cell| *cell != Cell::default()) {
            self.cut_off = Some(Box::new(CutOff { from, cells }));
        }
    }

    fn cut(&mut self, columns: u16) {
        self.separate(columns);
        self.cells.truncate(usize::from(columns));
    }

    /// The cells from a column on, at most so many: what a smaller terminal shows.
    pub(super) fn part(&self, from: u16, columns: u16) -> Self {
        let cells = self.cells.get(usize::from(from)..).unwrap_or_default().to_vec();
        let mut part = Self { cells, cut_off: None };
        if let Some(first) = part.cells.first_mut().filter(|cell| cell.width == CellWidth::SecondHalf) {
            *first = Cell::blank(first.style);
        }
        part.cut(columns);
        part
    }

    /// Blanks a wide character that has one half on each side of a boundary.
    fn separate(&mut self, boundary: u16) {
        let right = usize::from(boundary);
        if self.cells.get(right).is_some_and(|cell| cell.width == CellWidth::SecondHalf) {
            for half in self.cells[..=right].iter_mut().rev().take(2) {
                *half = Cell::blank(half.style);
            }
        }
    }

    fn extend_to(&mut self, end: u16) {
        let end = usize::from(end);
        if self.cells.len() < end {
            // In steps: a row that is written from left to right is not copied for each character.
            self.cells.reserve_exact(end.next_multiple_of(CAPACITY_STEP) - self.cells.len());
            self.cells.resize(end, Cell::default());
        }
    }
}
