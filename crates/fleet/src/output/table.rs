//! Tables that fit the terminal: one column gives way, the others are shown whole.

use fleet_core::text::escaped;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A column of a table.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    header: &'static str,
    cells: Vec<String>,
    gives_way: bool,
    is_spare: bool,
    paint: fn(&str) -> String,
}

impl Column {
    /// A column of plain text; control characters are shown as escapes.
    pub(crate) fn new(header: &'static str, cells: impl IntoIterator<Item = String>) -> Self {
        let cells = cells.into_iter().map(|cell| escaped(&cell).into_owned()).collect();
        Self { header, cells, gives_way: false, is_spare: false, paint: ToOwned::to_owned }
    }

    /// The column that is cut when the terminal is too narrow.
    pub(crate) fn giving_way(mut self) -> Self {
        self.gives_way = true;
        self
    }

    /// A column that is left out when the terminal is too narrow, the last one first.
    pub(crate) fn spare(mut self) -> Self {
        self.is_spare = true;
        self
    }

    /// With a colour for each cell.
    pub(crate) fn painted(mut self, paint: fn(&str) -> String) -> Self {
        self.paint = paint;
        self
    }

    /// Whether there is anything to show.
    fn is_empty(&self) -> bool {
        self.cells.iter().all(String::is_empty)
    }

    fn width(&self) -> usize {
        self.cells.iter().map(|cell| cell.width()).chain([self.header.width()]).max().unwrap_or(0)
    }
}

const GAP: usize = 2;
/// Columns that give way keep so much; where that is still too wide, only so much as the longest of their headers.
const LEAST: [usize; 2] = [12, 7];

/// Names and values below each other, those without a value left out.
pub(crate) fn fields(rows: &[(&str, String)]) -> String {
    let shown = rows.iter().filter(|(_, value)| !value.is_empty());
    let line =
        |(name, value): &(&str, String)| format!("{}  {value}", super::style::dim(&format!("{name:<10}")));
    shown.map(line).collect::<Vec<_>>().join("\n")
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
            columns.iter().zip(&widths).map(|(column, width)| cut(&column.cells[row], *width)).collect();
        let painted = columns.iter().zip(&cells).map(|(column, cell)| (column.paint)(cell));
        out.push(line(cells.iter().map(String::as_str), painted, &widths));
    }
    out.join("\n")
}

/// The widths with which the columns fit. Those that give way shrink a little, then spare ones are left out, then those
/// that give way shrink as far as they can.
fn fit(columns: &mut Vec<Column>, terminal: usize) -> Vec<usize> {
    loop {
        let mut widths: Vec<usize> = columns.iter().map(Column::width).collect();
        if shrink(columns, &mut widths, terminal, LEAST[0]) {
            return widths;
        }
        let Some(at) = columns.iter().rposition(|column| column.is_spare) else {
            shrink(columns, &mut widths, terminal, LEAST[1]);
            return widths;
        };
        columns.remove(at);
    }
}

/// Takes what is missing from the columns that give way, the widest first. True when they fit.
fn shrink(columns: &[Column], widths: &mut [usize], terminal: usize, least: usize) -> bool {
    loop {
        if widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1) <= terminal {
            return true;
        }
        let widest = (0..widths.len())
            .filter(|at| columns[*at].gives_way && widths[*at] > least)
            .max_by_key(|at| widths[*at]);
        let Some(at) = widest else { return false };
        widths[at] -= 1;
    }
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
    let mut out = String::new();
    let mut used = 0;
    for character in text.chars() {
        used += character.width().unwrap_or(0);
        if used >= width {
            break;
        }
        out.push(character);
    }
    out.push('…');
    out
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
    fn spare_columns_go_before_the_others_become_unreadable() {
        let with_spare = || {
            let mut columns = columns();
            columns.push(Column::new("MEMORY", ["1".to_owned(), "2".to_owned()]).spare());
            columns.push(Column::new("LAST", ["3".to_owned(), "4".to_owned()]).spare());
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
