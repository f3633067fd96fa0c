//! What is in a file, whatever its format: values that know their place.

use std::ops::Range;

use crate::config::quoted;

/// A value and the piece of text that it comes from.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) at: Range<usize>,
    pub(super) value: NodeValue,
}

#[derive(Debug, Clone)]
pub(super) struct NodeKey {
    pub(super) at: Range<usize>,
    pub(super) text: String,
}

#[derive(Debug, Clone)]
pub(super) enum NodeValue {
    /// Left open: `null`, or nothing behind the name.
    Null,
    Bool(bool),
    /// A number, as it was written: `2.50` are dollars and cents.
    Number(String),
    Text(String),
    List(Vec<Node>),
    /// Values by name, in order; a duplicate name is refused by the reader.
    Table(Vec<(NodeKey, Node)>),
}

/// What keeps a text from being read at all: where, and why.
#[derive(Debug)]
pub(super) struct UnreadableText {
    pub(super) at: usize,
    pub(super) why: String,
}

/// Deeper than any workflow nests.
pub(super) const MAX_DEPTH: usize = 32;

impl UnreadableText {
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
            NodeValue::Null => "nothing".to_owned(),
            NodeValue::Bool(yes) => format!("`{yes}`"),
            NodeValue::Number(number) => format!("the number {}", quoted(number)),
            NodeValue::Text(text) => match quoted(text) {
                empty if text.is_empty() => empty,
                text => format!("the text {text}"),
            },
            NodeValue::List(_) => "a list".to_owned(),
            NodeValue::Table(_) => "a table".to_owned(),
        }
    }

    /// A single value as text: numbers and yes or no count, where no other kind could be meant.
    pub(super) fn plain(&self) -> Option<String> {
        match &self.value {
            NodeValue::Bool(yes) => Some(yes.to_string()),
            NodeValue::Number(text) | NodeValue::Text(text) => Some(text.clone()),
            NodeValue::Null | NodeValue::List(_) | NodeValue::Table(_) => None,
        }
    }
}
