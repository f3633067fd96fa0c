//! The parts of what is followed: on a terminal one row for each, elsewhere one line for each change.

use std::collections::BTreeMap;

use fleet_core::time::Millis;
use unicode_width::UnicodeWidthStr as _;

use crate::output::{Column, count, cut, dim, table};

/// A task or a stage.
pub(super) trait FollowedRow: Sized {
    const NOUN: &'static str;
    /// Columns that a narrow terminal does without, in this order.
    const OPTIONAL: [&'static str; 2];

    fn facts(&self) -> RowFacts<'_>;

    /// For pipes and logs, if there is anything to say.
    fn line(&self, now: Millis) -> Option<String>;

    fn columns(cells: &Cells<'_, Self>, now: Millis) -> Vec<Column>;
}

/// What there is to know about a row.
pub(super) struct RowFacts<'a> {
    pub(super) key: &'a str,
    pub(super) status: &'a str,
    pub(super) attempts: i64,
    /// Where there is no room for all of them, those of the lowest rank are shown.
    pub(super) rank: u8,
}

pub(super) struct Cells<'a, R> {
    rows: &'a [&'a R],
    without: &'a [&'a str],
}

impl<R> Cells<'_, R> {
    /// A column; an empty one, which is not shown, if the terminal is too narrow for it.
    pub(super) fn column(&self, name: &'static str, cell: &dyn Fn(&R) -> String) -> Column {
        let is_shown = !self.without.contains(&name);
        Column::new(name, self.rows.iter().map(|row| if is_shown { cell(row) } else { String::new() }))
    }
}

/// What was printed about each row: its status, and which attempt it was.
#[derive(Debug, Default)]
pub(super) struct PrintedRows(BTreeMap<String, (String, i64)>);

impl PrintedRows {
    /// A line for each row that has changed.
    pub(super) fn changed_lines<R: FollowedRow>(&mut self, rows: &[R], now: Millis) -> Vec<String> {
        let mut is_new = |row: &&R| {
            let RowFacts { key, status, attempts, .. } = row.facts();
            let is = (status.to_owned(), attempts);
            self.0.insert(key.to_owned(), is.clone()) != Some(is)
        };
        rows.iter().filter(|row| is_new(row)).filter_map(|row| row.line(now)).collect()
    }
}

/// A table of at most this many rows, or of all of them, and how many it leaves out.
pub(super) fn block<R: FollowedRow>(
    rows: &[R],
    room: Option<usize>,
    fit: &mut Fit,
    now: Millis,
) -> Vec<String> {
    let shown = most_telling(rows, room.unwrap_or(usize::MAX));
    let width = terminal_size::terminal_size().map_or(USUAL_WIDTH, |(width, _)| usize::from(width.0));
    let mut lines = fit.lines(&shown, width, now);
    if shown.len() < rows.len() {
        lines.push(dim(&rest(rows, &shown)));
    }
    lines
}

/// At most this many of them, in their order.
pub(super) fn most_telling<R: FollowedRow>(rows: &[R], room: usize) -> Vec<&R> {
    let mut ranked: Vec<usize> = (0..rows.len()).collect();
    ranked.sort_by_key(|at| (rows[*at].facts().rank, *at));
    ranked.truncate(room);
    ranked.sort_unstable();
    ranked.into_iter().map(|at| &rows[at]).collect()
}

/// What is not shown, in words.
pub(super) fn rest<R: FollowedRow>(rows: &[R], shown: &[&R]) -> String {
    let hidden = rows.iter().filter(|row| !shown.iter().any(|other| std::ptr::eq(*row, *other)));
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for row in hidden {
        let status = row.facts().status;
        match counts.iter_mut().find(|(known, _)| *known == status) {
            Some((_, number)) => *number += 1,
            None => counts.push((status, 1)),
        }
    }
    let words: Vec<String> = counts.iter().map(|(status, number)| format!("{number} {status}")).collect();
    format!("… and {} more: {}", count(rows.len() - shown.len(), R::NOUN), words.join(", "))
}

/// What a terminal shows when it does not tell its size.
const USUAL_WIDTH: usize = 80;

/// How a table fits the terminal.
#[derive(Debug, Default)]
pub(super) struct Fit {
    width: usize,
    /// How many optional columns are left out. Never fewer than before: a column must not come and go with every text.
    left_out: usize,
}

impl Fit {
    /// Lines that are not wider than the terminal, without as many optional columns as it takes: a line that goes on in the
    /// next row would be drawn over wrongly.
    pub(super) fn lines<R: FollowedRow>(&mut self, rows: &[&R], width: usize, now: Millis) -> Vec<String> {
        if self.width != width {
            *self = Self { width, left_out: 0 };
        }
        loop {
            let cells = Cells { rows, without: &R::OPTIONAL[..self.left_out] };
            let text = table(R::columns(&cells, now));
            if text.lines().all(|line| plain(line).width() <= width) {
                return text.lines().map(ToOwned::to_owned).collect();
            }
            if self.left_out == R::OPTIONAL.len() {
                // Too narrow for anything but the beginning.
                return text.lines().map(|line| cut(&plain(line), width)).collect();
            }
            self.left_out += 1;
        }
    }
}

fn plain(line: &str) -> String {
    anstream::adapter::strip_str(line).to_string()
}
