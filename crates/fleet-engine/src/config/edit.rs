//! Changing one key in the text of a file.
//!
//! Owns where a new line goes and that every other byte stays. It cuts and inserts in the text, at the positions
//! that the parser reports: writing the parsed document out again would move dotted keys together and change the
//! line ends. Must never touch the disk, and takes only texts that parse.

use std::ops::Range;

use fleet_core::problem::{Code, Outcome, Problem};
use toml_edit::{Document, InlineTable, Item, Table};

use super::messages::{self, quoted};
use super::names;

pub(super) fn put(document: &Document<&str>, path: &[&str], value: &toml_edit::Value) -> Outcome<String> {
    let text = document.raw();
    match locate(document, path)? {
        KeyLocation::Value { value: span, .. } => Ok(spliced(text, span, &value.to_string())),
        KeyLocation::Inline { span, depth } => {
            let inside = put_inline(&text[span.clone()], &Inner { path, depth }, value)?;
            Ok(spliced(text, span, &inside))
        }
        KeyLocation::Missing(gap) if gap.takes_a_line(path) => {
            let line = format!("{} = {value}", names::written(&path[gap.base..]));
            Ok(with_line(text, gap.table, gap.base, &line))
        }
        KeyLocation::Missing(_) => {
            let (leaf, section) = path.split_last().ok_or_else(lost)?;
            Ok(with_section(
                text,
                &names::written(section),
                &format!("{} = {value}", names::written(&[leaf])),
            ))
        }
    }
}

/// The text without the key, or nothing when it was not there. Comments above it stay: they may be about more.
pub(super) fn take(document: &Document<&str>, path: &[&str]) -> Outcome<Option<String>> {
    let text = document.raw();
    match locate(document, path)? {
        KeyLocation::Missing(_) => Ok(None),
        KeyLocation::Value { key, value } => {
            let start = text[..key.start].rfind('\n').map_or(0, |at| at + 1);
            Ok(Some(spliced(text, start..line_end(text, value.end), "")))
        }
        KeyLocation::Inline { span, depth } => {
            let inside = take_inline(&text[span.clone()], &Inner { path, depth })?;
            Ok(inside.map(|inside| spliced(text, span, &inside)))
        }
    }
}

enum KeyLocation<'d> {
    Value {
        key: Range<usize>,
        value: Range<usize>,
    },
    /// An inline table stands for the first `depth` segments.
    Inline {
        span: Range<usize>,
        depth: usize,
    },
    Missing(Gap<'d>),
}

/// The innermost table that exists.
struct Gap<'d> {
    table: &'d Table,
    depth: usize,
    /// How many of them are in the header above, not in front of each key.
    base: usize,
}

impl Gap<'_> {
    /// Whether the key goes among others that are there; otherwise it needs its own header.
    fn takes_a_line(&self, path: &[&str]) -> bool {
        let has_header = self.depth == 0 || !self.table.is_implicit();
        self.table.is_dotted() || (has_header && self.depth + 1 == path.len())
    }
}

fn locate<'d>(document: &'d Document<&str>, path: &[&str]) -> Outcome<KeyLocation<'d>> {
    let mut table = document.as_table();
    let mut base = 0;
    for (depth, segment) in path.iter().enumerate() {
        let is_last = depth + 1 == path.len();
        match table.get_key_value(segment) {
            None => return Ok(KeyLocation::Missing(Gap { table, depth, base })),
            Some((_, Item::Table(inner))) if !is_last => {
                base = if inner.is_dotted() { base } else { depth + 1 };
                table = inner;
            }
            Some((_, Item::Value(toml_edit::Value::InlineTable(inline)))) if !is_last => {
                return Ok(KeyLocation::Inline { span: inline.span().ok_or_else(lost)?, depth: depth + 1 });
            }
            Some((key, Item::Value(value))) if is_last => {
                let (key, value) = (key.span().ok_or_else(lost)?, value.span().ok_or_else(lost)?);
                return Ok(KeyLocation::Value { key, value });
            }
            Some(_) => return Err(in_the_way(&path[..=depth], is_last)),
        }
    }
    Err(lost())
}

fn in_the_way(path: &[&str], is_last: bool) -> Problem {
    let name = quoted(&path.join("."));
    messages::obstacle(if is_last {
        format!("{name} is a section in this file, not a value")
    } else {
        format!("{name} is a value in this file, not a section")
    })
}

/// Every position is known in a document that came from a text.
fn lost() -> Problem {
    Problem::new(Code::Internal, "lost the position of a key")
}

/// Puts a line behind the last one of the table, or where the table begins.
fn with_line(text: &str, table: &Table, base: usize, line: &str) -> String {
    let last = table.get_values().iter().filter_map(|(_, value)| value.span()).map(|span| span.end).max();
    let header = if base == 0 { None } else { table.span().map(|span| span.start) };
    match last.or(header) {
        Some(after) => {
            let at = line_end(text, after);
            let before = if text[..at].ends_with('\n') { "" } else { newline(text) };
            spliced(text, at..at, &format!("{before}{line}{}", newline(text)))
        }
        None => at_top(text, line),
    }
}

/// Puts the first line of a file that has none before its first header, or at its end. Everything before that
/// is comments; those right above the header are the header's.
fn at_top(text: &str, line: &str) -> String {
    let mut block = 0;
    let mut start = 0;
    for piece in text.split_inclusive('\n') {
        match piece.trim_start().chars().next() {
            Some('[') => {
                let ends = newline(text);
                return spliced(text, block..block, &format!("{line}{ends}{ends}"));
            }
            Some('#') => {}
            _ => block = start + piece.len(),
        }
        start += piece.len();
    }
    at_end(text, line)
}

fn with_section(text: &str, name: &str, line: &str) -> String {
    at_end(text, &format!("[{name}]{}{line}", newline(text)))
}

/// Puts lines at the end, after an empty one.
fn at_end(text: &str, lines: &str) -> String {
    let ends = newline(text);
    let mut out = text.to_owned();
    if !out.is_empty() && !out.ends_with('\n') {
        out.push_str(ends);
    }
    if !out.trim().is_empty() && !out.ends_with("\n\n") && !out.ends_with("\n\r\n") {
        out.push_str(ends);
    }
    out + lines + ends
}

fn put_inline(source: &str, inner: &Inner<'_>, value: &toml_edit::Value) -> Outcome<String> {
    let mut whole: toml_edit::Value = source.parse().map_err(|_| lost())?;
    let (leaf, table) = inner.table(&mut whole)?;
    if let Some(old) = table.get_mut(leaf) {
        let decor = old.decor().clone();
        *old = value.clone();
        *old.decor_mut() = decor;
    } else {
        table.insert(leaf, value.clone());
        // Without this there is a space before the comma. With lines inside there may be comments to lose.
        if !source.contains('\n') {
            table.fmt();
        }
    }
    Ok(rendered(&whole, source))
}

fn take_inline(source: &str, inner: &Inner<'_>) -> Outcome<Option<String>> {
    let mut whole: toml_edit::Value = source.parse().map_err(|_| lost())?;
    let (leaf, table) = inner.table(&mut whole)?;
    Ok(table.remove(leaf).map(|_| rendered(&whole, source)))
}

/// The parser forgets which line ends an inline table had.
fn rendered(whole: &toml_edit::Value, source: &str) -> String {
    whole.to_string().replace("\r\n", "\n").replace('\n', newline(source))
}

/// A key inside the inline table that stands for the first `depth` segments of its path.
struct Inner<'p> {
    path: &'p [&'p str],
    depth: usize,
}

impl<'p> Inner<'p> {
    /// The inline table that holds the last segment, made where it is missing, and that segment.
    fn table<'v>(&self, whole: &'v mut toml_edit::Value) -> Outcome<(&'p str, &'v mut InlineTable)> {
        let (leaf, sections) = self.path.split_last().ok_or_else(lost)?;
        let mut table = whole.as_inline_table_mut().ok_or_else(lost)?;
        for (index, section) in sections.iter().enumerate().skip(self.depth) {
            let inner = table.get_or_insert(*section, InlineTable::new());
            table = inner.as_inline_table_mut().ok_or_else(|| in_the_way(&self.path[..=index], false))?;
        }
        Ok((leaf, table))
    }
}

fn spliced(text: &str, span: Range<usize>, inside: &str) -> String {
    [&text[..span.start], inside, &text[span.end..]].concat()
}

/// Behind the line break that follows, or the end of the text.
fn line_end(text: &str, from: usize) -> usize {
    text[from..].find('\n').map_or(text.len(), |at| from + at + 1)
}

fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}
