//! Tables that fit the terminal: what matters least is left out first, then texts are cut, and names so that they stay
//! apart.

use std::collections::BTreeSet;

use fleet_core::text::escaped;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

#[derive(Debug, Clone)]
pub(crate) struct Column {
    header: &'static str,
    cells: Vec<String>,
    way: ColumnShrink,
    is_spare: bool,
    is_extra: bool,
    paint: fn(&str) -> String,
}

/// What becomes of a column when the terminal is too narrow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColumnShrink {
    Whole,
    /// It is cut at its end, and keeps so much if it can.
    Text(usize),
    /// It is cut in the middle, and never so far that two of its cells look the same.
    Name,
}

/// How much room is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MissingRoom {
    /// Spare columns can still be left out.
    Little,
    /// Long names are cut, too.
    More,
    /// Texts are cut as far as possible.
    Much,
    /// Names, too.
    Utmost,
}

impl Column {
    /// A column of plain text; control characters are shown as escapes.
    pub(crate) fn new(header: &'static str, cells: impl IntoIterator<Item = String>) -> Self {
        let cells = cells.into_iter().map(|cell| escaped(&cell).into_owned()).collect();
        Self {
            header,
            cells,
            way: ColumnShrink::Whole,
            is_spare: false,
            is_extra: false,
            paint: ToOwned::to_owned,
        }
    }

    /// A column that is cut when the terminal is too narrow.
    pub(crate) fn giving_way(self) -> Self {
        self.keeping(LITTLE)
    }

    /// The same, but it keeps so much as long as there is something spare to leave out.
    pub(crate) fn keeping(mut self, width: usize) -> Self {
        self.way = ColumnShrink::Text(width);
        self
    }

    /// A column of names by which people call something, such as branches: cut in the middle, and they stay apart.
    pub(crate) fn naming(mut self) -> Self {
        self.way = ColumnShrink::Name;
        self
    }

    /// A column that is left out when the terminal is too narrow, the last one first.
    pub(crate) fn optional(mut self) -> Self {
        self.is_spare = true;
        self
    }

    /// A column that is shown only where everything fits as it is.
    pub(crate) fn extra(mut self) -> Self {
        self.is_extra = true;
        self
    }

    /// With a colour for each cell.
    pub(crate) fn painted(mut self, paint: fn(&str) -> String) -> Self {
        self.paint = paint;
        self
    }

    fn is_empty(&self) -> bool {
        self.cells.iter().all(String::is_empty)
    }

    fn least(&self, need: MissingRoom) -> usize {
        let least = match (self.way, need) {
            (ColumnShrink::Whole, _) => self.width(),
            (ColumnShrink::Text(least), MissingRoom::Little | MissingRoom::More) => least,
            (ColumnShrink::Text(_), _) | (ColumnShrink::Name, MissingRoom::Utmost) => LEAST,
            (ColumnShrink::Name, MissingRoom::Little) => self.apart_from(NAME),
            (ColumnShrink::Name, _) => self.apart_from(LEAST_NAME),
        };
        least.min(self.width())
    }

    /// The first width from this one on at which names that differ still do.
    fn apart_from(&self, least: usize) -> usize {
        (least..self.width()).find(|width| self.is_apart(*width)).unwrap_or(self.width())
    }

    /// Whether names that differ still do when they are cut.
    fn is_apart(&self, width: usize) -> bool {
        let names: BTreeSet<&str> = self.cells.iter().map(String::as_str).collect();
        let cut: BTreeSet<String> = names.iter().map(|name| cut_middle(name, width)).collect();
        cut.len() == names.len()
    }

    fn shown(&self, row: usize, width: usize) -> String {
        let cell = &self.cells[row];
        if self.way == ColumnShrink::Name { cut_middle(cell, width) } else { cut(cell, width) }
    }

    fn width(&self) -> usize {
        self.cells.iter().map(|cell| cell.width()).chain([self.header.width()]).max().unwrap_or(0)
    }
}

/// Makes the columns of a table with these rows: `column("ID", &|row| row.id.to_string())`.
pub(crate) fn columns<T>(rows: &[T]) -> impl Fn(&'static str, &dyn Fn(&T) -> String) -> Column {
    |header, cell| Column::new(header, rows.iter().map(cell))
}

const GAP: usize = 2;
/// What a title needs to be told from others.
pub(crate) const TITLE: usize = 25;
/// Texts keep so much if nothing else is said; where that is still too wide, only so much as the longest of their headers.
const LITTLE: usize = 12;
const LEAST: usize = 7;
/// Names keep so much while anything spare is there: a branch that codefleet has named, whole.
const NAME: usize = 24;
/// Names are not cut further than this without need, even where they would stay apart.
const LEAST_NAME: usize = 16;

/// Names of fields take at least this much room, so that what is shown often looks alike.
const LEAST_FIELD: usize = 10;

/// Names and values below each other, those without a value left out.
pub(crate) fn fields(rows: &[(&str, String)]) -> String {
    let shown = || rows.iter().filter(|(_, value)| !value.is_empty());
    let width = shown().map(|(name, _)| name.len()).fold(LEAST_FIELD, usize::max);
    let line = |(name, value): &(&str, String)| {
        let value = value.replace('\n', &format!("\n{:width$}  ", ""));
        format!("{}  {value}", super::style::dim(&format!("{name:<width$}")))
    };
    shown().map(line).collect::<Vec<_>>().join("\n")
}

/// Lays out a table for the terminal; columns without content are left out. Into a pipe nothing is ever cut.
pub(crate) fn table(columns: Vec<Column>) -> String {
    lay_out(columns, super::terminal().map(|(width, _)| width))
}

fn lay_out(columns: Vec<Column>, terminal: Option<usize>) -> String {
    let mut columns: Vec<Column> = columns.into_iter().filter(|column| !column.is_empty()).collect();
    let widths = fit(&mut columns, terminal.unwrap_or(usize::MAX));
    let rows = columns.iter().map(|column| column.cells.len()).max().unwrap_or(0);
    let headers = columns.iter().map(|column| super::style::dim(column.header));
    let header = line(columns.iter().map(|column| column.header), headers, &widths);
    let mut out = vec![header];
    for row in 0..rows {
        let cells: Vec<String> =
            columns.iter().zip(&widths).map(|(column, width)| column.shown(row, *width)).collect();
        let painted = columns.iter().zip(&cells).map(|(column, cell)| (column.paint)(cell));
        out.push(line(cells.iter().map(String::as_str), painted, &widths));
    }
    out.join("\n")
}

/// The widths with which the columns fit. Extra ones are left out first, those that give way shrink a little, then spare ones are left out, then those
/// that give way shrink as far as they can.
fn fit(columns: &mut Vec<Column>, terminal: usize) -> Vec<usize> {
    if total(&columns.iter().map(Column::width).collect::<Vec<_>>()) > terminal {
        columns.retain(|column| !column.is_extra);
    }
    loop {
        let mut widths: Vec<usize> = columns.iter().map(Column::width).collect();
        if shrink(columns, &mut widths, terminal, MissingRoom::Little) {
            return widths;
        }
        let Some(at) = columns.iter().rposition(|column| column.is_spare) else {
            // The first that is enough.
            [MissingRoom::More, MissingRoom::Much, MissingRoom::Utmost]
                .into_iter()
                .any(|need| shrink(columns, &mut widths, terminal, need));
            return widths;
        };
        columns.remove(at);
    }
}

fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

/// Takes what is missing from the columns that give way, the widest first. True when they fit.
fn shrink(columns: &[Column], widths: &mut [usize], terminal: usize, need: MissingRoom) -> bool {
    if total(widths) <= terminal {
        return true;
    }
    let least: Vec<usize> = columns.iter().map(|column| column.least(need)).collect();
    while total(widths) > terminal {
        let widest = (0..widths.len()).filter(|at| widths[*at] > least[*at]).max_by_key(|at| widths[*at]);
        let Some(at) = widest else { return false };
        widths[at] -= 1;
    }
    true
}

fn line<'a>(
    plain: impl Iterator<Item = &'a str>,
    painted: impl Iterator<Item = String>,
    widths: &[usize],
) -> String {
    let mut out = String::new();
    let last = widths.len().saturating_sub(1);
    for (at, (plain, painted)) in plain.zip(painted).enumerate() {
        // Colours around nothing would keep the spaces before them at the end of the line.
        if !plain.is_empty() {
            out.push_str(&painted);
        }
        if at < last {
            out.push_str(&" ".repeat(widths[at].saturating_sub(plain.width()) + GAP));
        }
    }
    out.trim_end().to_owned()
}

/// At most `width` columns wide; what does not fit becomes an ellipsis.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    format!("{}…", beginning(text.chars(), width.saturating_sub(1)).collect::<String>())
}

/// The same, but the end stays as well as the beginning: names that are made alike differ there.
fn cut_middle(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let rest = width.saturating_sub(1);
    let head: String = beginning(text.chars(), rest / 2).collect();
    let tail: Vec<char> = beginning(text.chars().rev(), rest - rest / 2).collect();
    format!("{head}…{}", tail.iter().rev().collect::<String>())
}

/// The first characters, as many as fit.
fn beginning(characters: impl Iterator<Item = char>, width: usize) -> impl Iterator<Item = char> {
    let widths = characters.scan(0, |used, character| {
        *used += character.width().unwrap_or(0);
        Some((*used, character))
    });
    widths.take_while(move |(used, _)| *used <= width).map(|(_, character)| character)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Vec<Column> {
        let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        vec![
            Column::new("ID", texts(&["t1", "t22"])),
            Column::new("NOTHING", texts(&["", ""])),
            Column::new(
                "TITLE",
                texts(&["a short one", "漢字 with a very long tail that does not fit\u{7}"]),
            )
            .giving_way(),
            Column::new("STATUS", texts(&["ready", "failed"])),
        ]
    }

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn a_pipe_gets_everything_and_a_terminal_what_fits() {
        insta::assert_snapshot!(plain(&lay_out(columns(), None)), @r"
        ID   TITLE                                              STATUS
        t1   a short one                                        ready
        t22  漢字 with a very long tail that does not fit\u{7}  failed
        ");
        let narrow = plain(&lay_out(columns(), Some(40)));
        assert!(narrow.lines().all(|line| line.width() <= 40), "{narrow}");
        insta::assert_snapshot!(narrow, @"
        ID   TITLE                        STATUS
        t1   a short one                  ready
        t22  漢字 with a very long tail…  failed
        ");
    }

    #[test]
    fn names_are_cut_in_the_middle_and_stay_apart() {
        let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let columns = || {
            vec![
                Column::new(
                    "BRANCH",
                    texts(&[
                        "fix-the-flaky-login-test-of-the-suite-A",
                        "fix-the-flaky-login-test-of-the-suite-B",
                        "fix-the-flaky-login-page-of-the-suite-B",
                        "main",
                    ]),
                )
                .naming(),
                Column::new("TITLE", texts(&["Fix the flaky login test of the suite"; 4])).keeping(TITLE),
                Column::new("AGENT", texts(&["claude/opus"; 4])).giving_way().optional(),
            ]
        };
        insta::assert_snapshot!(plain(&lay_out(columns(), Some(60))), @"
        BRANCH                            TITLE
        fix-the-flaky-l…t-of-the-suite-A  Fix the flaky login test …
        fix-the-flaky-l…t-of-the-suite-B  Fix the flaky login test …
        fix-the-flaky-l…e-of-the-suite-B  Fix the flaky login test …
        main                              Fix the flaky login test …
        ");
        let narrow = plain(&lay_out(columns(), Some(45)));
        let names: BTreeSet<&str> =
            narrow.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
        assert_eq!(names.len(), 4, "{narrow}");
    }

    #[test]
    fn a_short_name_stays_whole_as_long_as_something_else_can_go() {
        let one = |text: &str| [text.to_owned()];
        let columns = vec![
            Column::new("BRANCH", one("fleet/t0snb3crx48nnf0")).naming(),
            Column::new("TITLE", one("Fix the flaky login test of the suite")).keeping(TITLE),
            Column::new("AGENT", one("demo")).giving_way().optional(),
        ];
        let shown = plain(&lay_out(columns, Some(50)));
        assert!(
            shown.contains("fleet/t0snb3crx48nnf0  Fix the flaky login test") && !shown.contains("AGENT"),
            "{shown}"
        );
    }

    #[test]
    fn an_extra_column_takes_no_room_from_others() {
        let shown = |width| {
            let mut columns = columns();
            columns.push(Column::new("FOLDER", ["/a/w1".to_owned(), "/a/w2".to_owned()]).extra());
            plain(&lay_out(columns, width))
        };
        assert!(shown(None).contains("FOLDER") && shown(Some(70)).contains("FOLDER"));
        assert_eq!(shown(Some(68)), plain(&lay_out(columns(), Some(68))));
    }

    #[test]
    fn spare_columns_go_before_the_others_become_unreadable() {
        let with_spare = || {
            let mut columns = columns();
            columns.push(Column::new("MEMORY", ["1".to_owned(), "2".to_owned()]).optional());
            columns.push(Column::new("LAST", ["3".to_owned(), "4".to_owned()]).optional());
            columns
        };
        let headers = |width| plain(lay_out(with_spare(), Some(width)).lines().next().unwrap());
        assert_eq!(headers(60).split_whitespace().last(), Some("LAST"));
        assert_eq!(headers(39).split_whitespace().last(), Some("LAST"));
        assert_eq!(headers(36).split_whitespace().last(), Some("MEMORY"));
        assert_eq!(headers(30).split_whitespace().last(), Some("STATUS"));
        assert_eq!(headers(20).split_whitespace().last(), Some("STATUS"));
    }
}
