//! For terminals: a block of lines that is drawn over itself.
//!
//! Only cursor movements, and each frame in one write: nothing is erased before something else stands there, so nothing
//! flickers. The movements do not depend on colours, which the lines bring themselves.

use std::fmt::Write as _;

use fleet_api::views::Followed;
use fleet_core::problem::Outcome;
use fleet_core::task::TaskState;
use fleet_core::time::Millis;
use unicode_width::UnicodeWidthStr as _;

use super::words;
use crate::output::{Column, count, cut, dim, print, table};

/// What a terminal shows when it does not tell its size.
const USUAL_HEIGHT: usize = 24;
const USUAL_WIDTH: usize = 80;
/// Lines of a block that are no work: the header, and what is left out.
const OTHERS: usize = 2;

/// The block on the terminal.
#[derive(Debug, Default)]
pub(super) struct Screen {
    /// The lines that are there.
    drawn: Vec<String>,
}

impl Screen {
    /// How many rows of work fit.
    pub(super) fn room() -> usize {
        let height = terminal_size::terminal_size().map_or(USUAL_HEIGHT, |(_, height)| usize::from(height.0));
        // The cursor stands below the block.
        height.saturating_sub(OTHERS + 1).max(1)
    }

    /// Draws these lines in the place of the last ones.
    pub(super) fn draw(&mut self, lines: Vec<String>) -> Outcome<()> {
        if lines == self.drawn {
            return Ok(());
        }
        let text = frame(self.drawn.len(), &lines);
        self.drawn = lines;
        print(&text)
    }
}

/// The text that puts these lines in the place of so many others.
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

/// So many of them at most, in their order; those at work come before those that wait, and these before those that are
/// over.
pub(super) fn most_telling(tasks: &[Followed], room: usize) -> Vec<&Followed> {
    let rank = |one: &Followed| match one.task.state {
        TaskState::Running => 0,
        TaskState::Waiting => 1,
        TaskState::Queued | TaskState::Held => 2,
        TaskState::Failed => 3,
        TaskState::Done | TaskState::Cancelled => 4,
    };
    let mut ranked: Vec<usize> = (0..tasks.len()).collect();
    ranked.sort_by_key(|at| (rank(&tasks[*at]), *at));
    ranked.truncate(room);
    ranked.sort_unstable();
    ranked.into_iter().map(|at| &tasks[at]).collect()
}

/// What is not shown, in words.
pub(super) fn rest(tasks: &[Followed], shown: &[&Followed]) -> String {
    let hidden = tasks.iter().filter(|one| !shown.iter().any(|other| other.task.id == one.task.id));
    let mut states: Vec<(&str, usize)> = Vec::new();
    for one in hidden {
        match states.iter_mut().find(|(state, _)| *state == one.task.status) {
            Some((_, number)) => *number += 1,
            None => states.push((&one.task.status, 1)),
        }
    }
    let words: Vec<String> = states.iter().map(|(state, number)| format!("{number} {state}")).collect();
    format!("… and {} more: {}", count(tasks.len() - shown.len(), "task"), words.join(", "))
}

/// Columns that a narrow terminal does without, in this order: ids are in every other list, and the agent is known.
const OPTIONAL: [&str; 2] = ["TASK", "AGENT"];

/// One line for each task.
pub(super) fn rows(tasks: &[&Followed], now: Millis) -> Vec<String> {
    narrowed(&OPTIONAL, |without| lay_out(tasks, now, without))
}

/// Lines that are not wider than the terminal, without as many optional columns as it takes: a line that goes on in the
/// next row would be drawn over wrongly.
pub(super) fn narrowed(optional: &[&str], lay_out: impl Fn(&[&str]) -> Vec<String>) -> Vec<String> {
    let width = terminal_size::terminal_size().map_or(USUAL_WIDTH, |(width, _)| usize::from(width.0));
    let mut lines = Vec::new();
    for left_out in 0..=optional.len() {
        lines = lay_out(&optional[..left_out]);
        if lines.iter().all(|line| plain(line).width() <= width) {
            return lines;
        }
    }
    // Too narrow for anything but the beginning.
    lines.iter().map(|line| cut(&plain(line), width)).collect()
}

fn plain(line: &str) -> String {
    anstream::adapter::strip_str(line).to_string()
}

fn lay_out(tasks: &[&Followed], now: Millis, without: &[&str]) -> Vec<String> {
    let column = |name: &'static str, cell: &dyn Fn(&Followed) -> String| {
        let is_shown = !without.contains(&name);
        let cells = tasks.iter().map(|one| if is_shown { cell(one) } else { String::new() });
        Column::new(name, cells.collect::<Vec<_>>())
    };
    let columns = vec![
        column("TASK", &|one| one.task.id.to_string()),
        // As wide as the longest state, so that the columns stay where they are.
        column("STATE    ", &|one| words::state(one).to_owned()).painted(words::paint_state),
        column("BRANCH", &|one| one.branch()).naming(),
        column("AGENT", &words::agent).giving_way(),
        column("TIME  ", &|one| words::elapsed(one, now)).painted(dim),
        column("ACTIVITY", &|one| words::activity(one, now)).giving_way(),
    ];
    table(columns).lines().map(ToOwned::to_owned).collect()
}
