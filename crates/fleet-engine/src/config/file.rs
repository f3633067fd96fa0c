//! Reading a configuration file: every value with its line, and every problem in it.
//!
//! Owns getting the text and walking the document. Must never stop at the first problem of a file that parses, and
//! never trust its size or what it links to: a project's file comes from the authors of the repository.

use std::path::Path;

use fleet_core::problem::{Outcome, Problem};
use toml_edit::{Document, Item, TableLike};

use super::key::{Key, KeyScope};
use super::messages::{self, of_file};
use super::names::{self, NamedKey};
use super::setting::ConfigFile;
use super::value::{ConfigValue, Mismatch};
use crate::text_file::{self, Unusable};

/// More than any configuration needs, and little enough to read at each start.
const LIMIT: u64 = 1024 * 1024;

/// What a file says, in the order of the file.
pub(super) struct ConfigContent {
    pub(super) entries: Vec<ConfigEntry>,
    pub(super) problems: Vec<Problem>,
}

pub(super) struct ConfigEntry {
    pub(super) name: String,
    pub(super) value: ConfigValue,
    pub(super) line: usize,
}

/// The text of a file, or nothing when there is none.
pub(super) fn read(path: &Path) -> Outcome<Option<String>> {
    match text_file::read(path, LIMIT) {
        Ok(text) => Ok(Some(text)),
        Err(Unusable::Missing) => Ok(None),
        Err(Unusable::NotText(line)) => {
            Err(messages::not_utf8().at(&format_args!("{}:{line}", path.display())))
        }
        Err(why) => Err(of_file(path, why)),
    }
}

/// The document, with the positions of everything in it.
pub(super) fn document<'t>(path: &Path, text: &'t str) -> Outcome<Document<&'t str>> {
    Document::parse(text).map_err(|error| {
        let (line, column) = LineIndex::new(text).position(error.span().map_or(0, |span| span.start));
        messages::bad_toml(error.message()).at(&format_args!("{}:{line}:{column}", path.display()))
    })
}

/// The text without the mark that some editors put in front.
pub(super) fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Everything that the text sets, and everything that is wrong with it.
pub(super) fn parse(file: &ConfigFile, text: &str) -> ConfigContent {
    let text = without_mark(text);
    match document(file.path(), text) {
        Ok(document) => {
            let mut walk =
                ConfigWalk { file, lines: LineIndex::new(text), entries: Vec::new(), problems: Vec::new() };
            walk.table(document.as_table(), &[]);
            walk.content()
        }
        Err(problem) => ConfigContent { entries: Vec::new(), problems: vec![problem] },
    }
}

struct ConfigWalk<'a> {
    file: &'a ConfigFile,
    lines: LineIndex<'a>,
    entries: Vec<ConfigEntry>,
    problems: Vec<(usize, Problem)>,
}

impl ConfigWalk<'_> {
    /// Tables are walked as they nest; people read them as they stand.
    fn content(mut self) -> ConfigContent {
        self.entries.sort_by_key(|entry| entry.line);
        self.problems.sort_by_key(|(line, _)| *line);
        let problems = self.problems.into_iter().map(|(_, problem)| problem).collect();
        ConfigContent { entries: self.entries, problems }
    }

    fn table(&mut self, table: &dyn TableLike, path: &[&str]) {
        for (name, item) in table.iter() {
            let path = [path, &[name]].concat();
            let key = table.key(name).and_then(toml_edit::Key::span);
            let start = key.or_else(|| item.span()).map_or(0, |span| span.start);
            let line = self.lines.position(start).0;
            if let Err(problem) = self.item(item, &path, line) {
                self.problems.push((line, problem.at(&self.file.origin(line))));
            }
        }
    }

    fn item(&mut self, item: &Item, path: &[&str], line: usize) -> Outcome<()> {
        let inner = item.as_table_like();
        match (names::named(path), inner) {
            (NamedKey::Key(key), _) => self.entry(key, item, path, line),
            (NamedKey::Section, Some(table)) => {
                self.table(table, path);
                Ok(())
            }
            (NamedKey::Section, None) => Err(messages::section(&path.join("."))),
            // What is inside is named in full, which makes for a better suggestion than the section alone.
            (NamedKey::Nothing(_), Some(table)) if !table.is_empty() => {
                self.table(table, path);
                Ok(())
            }
            (NamedKey::Nothing(problem), _) => Err(problem),
        }
    }

    fn entry(&mut self, key: &Key, item: &Item, path: &[&str], line: usize) -> Outcome<()> {
        let name = path.join(".");
        if key.scope == KeyScope::UserOnly && matches!(self.file, ConfigFile::Project(_)) {
            return Err(messages::user_only(&name));
        }
        let value = match item {
            Item::Value(value) => ConfigValue::from_toml(key.kind, value),
            _ => Err(Mismatch::new(key.kind, "a section")),
        };
        let value = value.map_err(|mismatch| messages::mismatch(&name, &mismatch))?;
        self.entries.push(ConfigEntry { name, value, line });
        Ok(())
    }
}

/// Where the lines of a text begin, so that a position is found without reading the text again.
pub(crate) struct LineIndex<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> LineIndex<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text, starts }
    }

    /// Line and column, both from 1.
    pub(crate) fn position(&self, offset: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts.get(line.wrapping_sub(1)).copied().unwrap_or(0);
        let column = self.text.get(start..offset).map_or(0, |before| before.chars().count());
        (line, column + 1)
    }

    /// Where a line and a column are, both from 1; the end of the text if there is no such place.
    pub(crate) fn offset(&self, line: usize, column: usize) -> usize {
        let Some(start) = self.starts.get(line.saturating_sub(1)) else { return self.text.len() };
        let mut places = self.text[*start..].char_indices();
        places.nth(column.saturating_sub(1)).map_or(self.text.len(), |(at, _)| start + at)
    }

    /// The text of a line, counted from 1, without its end.
    pub(crate) fn line(&self, line: usize) -> &'t str {
        let start = line.checked_sub(1).and_then(|line| self.starts.get(line));
        start.and_then(|start| self.text[*start..].lines().next()).unwrap_or_default()
    }
}
