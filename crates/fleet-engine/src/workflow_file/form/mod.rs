//! What the tree of a file means: the two forms in which a workflow is written.
//!
//! `stages` decides: a table has stages by name ([`named`]), a list has stages that need each other by their number
//! ([`listed`]). Both come to the same draft.

mod copies;
mod listed;
mod named;
mod params;
mod prompt;
mod stage;

use std::collections::BTreeMap;
use std::ops::Range;

use fleet_core::task::BaseRef;
use fleet_core::workflow::Stage;

use super::SourceFile;
use super::given::GivenValues;
use super::node::{Node, NodeValue};
use super::reader::WorkflowReader;

#[derive(Debug, Default)]
pub(super) struct WorkflowDraft {
    pub(super) name: Option<String>,
    /// What the file says that it is for.
    pub(super) task: Option<String>,
    /// Where the file says that it starts.
    pub(super) base: Option<BaseRef>,
    pub(super) fail_fast: bool,
    pub(super) params: BTreeMap<String, String>,
    /// Parameters that have no value yet.
    pub(super) missing: Vec<String>,
    pub(super) stages: Vec<Stage>,
    /// Where the stages stand, in the same order.
    pub(super) marks: Vec<SourceMarks>,
    /// Where `name` and `stages` are.
    pub(super) top: SourceMarks,
}

/// Where something and its fields stand, by the names that the fields have in [`Stage`].
#[derive(Debug, Clone, Default)]
pub(super) struct SourceMarks {
    whole: Range<usize>,
    fields: Vec<(&'static str, Range<usize>)>,
}

impl SourceMarks {
    fn new(whole: Range<usize>) -> Self {
        Self { whole, fields: Vec::new() }
    }

    fn set(&mut self, field: &'static str, at: Option<Range<usize>>) {
        self.fields.extend(at.map(|at| (field, at)));
    }

    /// The place of a field, or of the whole where the file says nothing of it.
    pub(super) fn of(&self, field: &str) -> Range<usize> {
        let known = self.fields.iter().find(|(name, _)| *name == field);
        known.map_or_else(|| self.whole.clone(), |(_, at)| at.clone())
    }
}

pub(super) fn read(
    reader: &mut WorkflowReader<'_>,
    source: &SourceFile,
    root: &Node,
    given: &GivenValues,
) -> WorkflowDraft {
    let entries = match &root.value {
        NodeValue::Table(entries) => entries.as_slice(),
        _ => &[],
    };
    let stages = entries.iter().find(|(name, _)| name.text == "stages").map(|(_, node)| &node.value);
    match stages {
        Some(NodeValue::List(_)) => listed::read(reader, root, given),
        _ => named::read(reader, source, root, given),
    }
}
