//! What stands in a file, whatever its format: values that know their place.

use std::ops::Range;

use crate::config::quoted;

/// A value and the piece of text that it comes from.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) at: Range<usize>,
    pub(super) value: Value,
}

#[derive(Debug, Clone)]
pub(super) struct Name {
    pub(super) at: Range<usize>,
    pub(super) text: String,
}

#[derive(Debug, Clone)]
pub(super) enum Value {
    /// Left open: `null`, or nothing behind the name.
    Null,
    Bool(bool),
    /// A number, as it was written: `2.50` are dollars and cents.
    Number(String),
    Text(String),
    List(Vec<Node>),
    /// Values by name, in order; a duplicate name is refused by the reader.
    Table(Vec<(Name, Node)>),
}

/// What keeps a text from being read at all: where, and why.
#[derive(Debug)]
pub(super) struct Unreadable {
    pub(super) at: usize,
    pub(super) why: String,
}

/// Deeper than any workflow nests.
pub(super) const MAX_DEPTH: usize = 32;

impl Unreadable {
    pub(super) fn new(at: usize, why: impl Into<String>) -> Self {
        Self { at, why: why.into() }
    }

    pub(super) fn too_deep(at: usize) -> Self {
        Self::new(at, format!("it nests deeper than {MAX_DEPTH} levels"))
    }
}

impl Node {
    /// What it is, as a message says it.
    pub(super) fn kind(&self) -> String {
        match &self.value {
            Value::Null => "nothing".to_owned(),
            Value::Bool(yes) => format!("`{yes}`"),
            Value::Number(number) => format!("the number {}", quoted(number)),
            Value::Text(text) => match quoted(text) {
                empty if text.is_empty() => empty,
                text => format!("the text {text}"),
            },
            Value::List(_) => "a list".to_owned(),
            Value::Table(_) => "a table".to_owned(),
        }
    }

    /// A single value as text: numbers and yes or no count, where no other kind could be meant.
    pub(super) fn plain(&self) -> Option<String> {
        match &self.value {
            Value::Bool(yes) => Some(yes.to_string()),
            Value::Number(text) | Value::Text(text) => Some(text.clone()),
            Value::Null | Value::List(_) | Value::Table(_) => None,
        }
    }
}
