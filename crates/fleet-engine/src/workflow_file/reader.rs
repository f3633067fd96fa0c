//! Reading values out of the tree, and collecting all that is wrong on the way.
//!
//! Owns the wording of everything that concerns a single value. A wrong value is reported and left out, so that reading
//! goes on; [`WorkflowReader::is_whole`] says whether what is left still means what was written.

use std::fmt::Display;
use std::ops::Range;
use std::str::FromStr;

use fleet_core::task::{AgentName, FieldError};

use super::node::{Node, NodeKey, NodeValue};
use super::{Diagnostic, Severity, diagnostic};
use crate::config::{LineIndex, did_you_mean, nearest, quoted};

/// The most that is said about one file.
const MAX_PROBLEMS: usize = 100;

pub(super) struct WorkflowReader<'t> {
    file: String,
    text: &'t str,
    found: Vec<(Option<usize>, Diagnostic)>,
    left_out: usize,
    is_whole: bool,
}

impl<'t> WorkflowReader<'t> {
    pub(super) const fn new(file: String, text: &'t str) -> Self {
        Self { file, text, found: Vec::new(), left_out: 0, is_whole: true }
    }

    /// Whether the stages and what they need of each other were read as written. Other flaws do not hinder a look at how
    /// the stages fit together.
    pub(super) const fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Something is wrong at a place; nowhere is the file as a whole.
    pub(super) fn refuse(&mut self, at: Option<usize>, message: impl Into<String>, help: Option<String>) {
        self.tell(Severity::Error, at, message.into(), help);
    }

    /// As [`Self::refuse`], and what was read is not what was written.
    pub(super) fn refuse_shape(&mut self, at: usize, message: impl Into<String>, help: Option<String>) {
        self.is_whole = false;
        self.refuse(Some(at), message, help);
    }

    pub(super) fn warn(&mut self, at: Option<usize>, message: impl Into<String>, help: Option<String>) {
        self.tell(Severity::Warning, at, message.into(), help);
    }

    fn tell(&mut self, severity: Severity, at: Option<usize>, message: String, help: Option<String>) {
        if self.is_full() {
            self.left_out += 1;
            return;
        }
        let diagnostic = Diagnostic {
            severity,
            help: help.into_iter().collect(),
            ..diagnostic::of_file(&self.file, message)
        };
        self.found.push((at, diagnostic));
    }

    fn is_full(&self) -> bool {
        self.found.len() >= MAX_PROBLEMS
    }

    /// A suggestion; none once enough errors are shown, because the search takes time.
    pub(super) fn meant(&self, given: &str, choices: impl IntoIterator<Item = String>) -> Option<String> {
        if self.is_full() {
            return None;
        }
        did_you_mean(given, choices.into_iter())
    }

    /// Where the first of these words stands in a piece of the text; else its beginning.
    pub(super) fn within(&self, piece: Range<usize>, words: &[&str]) -> usize {
        let found = words.iter().find_map(|word| self.text.get(piece.clone())?.find(word));
        piece.start + found.unwrap_or(0)
    }

    /// The line of a place, from 1.
    pub(super) fn line(&self, at: usize) -> usize {
        1 + self.text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count()
    }

    /// Everything, in the order of the file.
    pub(super) fn finish(mut self) -> Vec<Diagnostic> {
        self.found.sort_by_key(|(at, _)| *at);
        let lines = LineIndex::new(self.text);
        let mut all: Vec<Diagnostic> = self
            .found
            .into_iter()
            .map(|(at, one)| match at {
                Some(at) => diagnostic::at(one, &lines, at),
                None => one,
            })
            .collect();
        if self.left_out > 0 {
            all.push(diagnostic::of_file(&self.file, format!("and {} more: fix these first", self.left_out)));
        }
        all
    }

    /// The entries of a table. Unknown names are refused, and read as what they probably mean: so that all errors are
    /// reported at once, without those that only follow from such a name.
    pub(super) fn fields<'n>(&mut self, node: &'n Node, what: &str, known: &KnownNames) -> Fields<'n> {
        let NodeValue::Table(entries) = &node.value else {
            self.refuse_shape(node.at.start, format!("{what} must be a table, not {}", node.kind()), None);
            return Fields { entries: Vec::new() };
        };
        let mut fields = Fields { entries: Vec::new() };
        for (name, value) in entries {
            if !known.names.contains(&name.text.as_str()) {
                let meant = self.meant_key(&name.text, known);
                let is_of_other_form = known.synonyms.iter().any(|(word, _)| *word == name.text);
                let more = if is_of_other_form { known.other_form } else { "" };
                let help = match meant {
                    Some(meant) => format!("did you mean `{meant}`?{more}"),
                    None => format!("the keys are {}", known.names.join(", ")),
                };
                self.refuse(Some(name.at.start), format!("unknown key {}", quoted(&name.text)), Some(help));
                let is_free = |meant: &&str| !entries.iter().any(|(other, _)| other.text == **meant);
                if let Some(meant) = meant.filter(is_free) {
                    fields.entries.push((meant, name, value));
                }
            } else if fields.entries.iter().any(|(_, other, _)| other.text == name.text) {
                self.refuse_shape(name.at.start, format!("{} appears twice", quoted(&name.text)), None);
            } else {
                fields.entries.push((name.text.as_str(), name, value));
            }
        }
        fields
    }

    /// The key that the user means; none once enough errors are shown.
    fn meant_key(&self, name: &str, known: &KnownNames) -> Option<&'static str> {
        let simple = |name: &str| name.replace(['_', '-'], "").to_ascii_lowercase();
        let other = known.synonyms.iter().find(|(word, _)| simple(word) == simple(name));
        let same = || known.names.iter().find(|word| simple(word) == simple(name)).copied();
        let near = || {
            let meant = nearest(name, known.names.iter().map(|name| (*name).to_owned()))?;
            known.names.iter().find(|known| **known == meant).copied()
        };
        let certain = other.map(|(_, meant)| *meant).or_else(same);
        certain.or_else(|| if self.is_full() { None } else { near() })
    }

    fn mismatch(&mut self, field: &Field<'_>, wanted: impl Display) {
        let message = format!("`{}` must be {wanted}, not {}", field.name.text, field.node.kind());
        self.refuse(Some(field.node.at.start), message, None);
    }

    pub(super) fn text(&mut self, field: Option<Field<'_>>) -> Option<String> {
        let field = field?;
        match &field.node.value {
            NodeValue::Text(text) => Some(text.clone()),
            NodeValue::Number(_) | NodeValue::Bool(_) => {
                let message = format!("`{}` must be a text, not {}", field.name.text, field.node.kind());
                self.refuse(Some(field.node.at.start), message, Some("put it in quotes".to_owned()));
                None
            }
            _ => {
                self.mismatch(&field, "a text");
                None
            }
        }
    }

    /// A text that is checked when it becomes what it is for.
    pub(super) fn parsed<T: FromStr<Err: Display>>(&mut self, field: Option<Field<'_>>) -> Option<T> {
        let field = field?;
        let text = self.text(Some(field))?;
        match text.parse() {
            Ok(value) => Some(value),
            Err(error) => {
                self.refuse(Some(field.node.at.start), error.to_string(), None);
                None
            }
        }
    }

    /// The name of an agent. The tools that wrote such files before do not tell its letters' case apart.
    pub(super) fn agent(&mut self, field: Option<Field<'_>>) -> Option<AgentName> {
        let text = self.text(field)?;
        match text.to_ascii_lowercase().parse() {
            Ok(name) => Some(name),
            Err(FieldError { why, .. }) => {
                self.refuse(field.map(|field| field.node.at.start), why, None);
                None
            }
        }
    }

    pub(super) fn word<T: Copy + Display>(&mut self, field: Option<Field<'_>>, all: &[T]) -> Option<T> {
        let field = field?;
        let names: Vec<String> = all.iter().map(ToString::to_string).collect();
        let given = match &field.node.value {
            NodeValue::Text(text) => text.as_str(),
            _ => "",
        };
        let found = names.iter().position(|name| name == given);
        if found.is_none() {
            let choices = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let message =
                format!("`{}` must be one of {choices}, not {}", field.name.text, field.node.kind());
            let help = self.meant(given, names);
            self.refuse(Some(field.node.at.start), message, help);
        }
        found.map(|at| all[at])
    }

    pub(super) fn flag(&mut self, field: Option<Field<'_>>) -> Option<bool> {
        let field = field?;
        if let NodeValue::Bool(yes) = field.node.value {
            return Some(yes);
        }
        self.mismatch(&field, "`true` or `false`");
        None
    }

    /// A whole number up to the given one.
    pub(super) fn number(&mut self, field: Option<Field<'_>>, range: Range<u64>) -> Option<u64> {
        let field = field?;
        let number = match &field.node.value {
            NodeValue::Number(text) => text.parse().ok().filter(|number| range.contains(number)),
            _ => None,
        };
        if number.is_none() {
            let most = range.end.saturating_sub(1);
            self.mismatch(&field, format_args!("a whole number from {} to {most}", range.start));
        }
        number
    }

    pub(super) fn texts(&mut self, field: Option<Field<'_>>) -> Option<Vec<String>> {
        let field = field?;
        let NodeValue::List(values) = &field.node.value else {
            self.mismatch(&field, "a list of texts");
            return None;
        };
        let mut texts = Vec::with_capacity(values.len());
        for node in values {
            texts.extend(self.text(Some(Field { name: field.name, node })));
        }
        Some(texts)
    }
}

/// The names that a table may have.
pub(super) struct KnownNames {
    pub(super) names: &'static [&'static str],
    /// Words for the same in other tools, and in the other form.
    pub(super) synonyms: &'static [(&'static str, &'static str)],
    /// Where these words are right, to be said behind what was probably meant.
    pub(super) other_form: &'static str,
}

pub(super) struct Fields<'n> {
    /// With the key that each stands for.
    entries: Vec<(&'n str, &'n NodeKey, &'n Node)>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Field<'n> {
    pub(super) name: &'n NodeKey,
    pub(super) node: &'n Node,
}

impl<'n> Fields<'n> {
    /// The entry of this name; an unclosed one is not one.
    pub(super) fn get(&self, name: &str) -> Option<Field<'n>> {
        let (_, name, node) = *self.entries.iter().find(|(key, _, _)| *key == name)?;
        (!matches!(node.value, NodeValue::Null)).then_some(Field { name, node })
    }
}
