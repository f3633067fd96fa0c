//! Stages by name: the form that people write.

use fleet_core::workflow::MAX_STAGES;

use super::super::given::GivenValues;
use super::super::node::{Node, NodeValue};
use super::super::reader::{Field, KnownNames, WorkflowReader};
use super::super::source::SourceFile;
use super::stage::{self, Surroundings};
use super::{WorkflowDraft, params};

const TOP: KnownNames = KnownNames {
    names: &["name", "description", "task", "base", "fail_fast", "params", "defaults", "stages"],
    synonyms: &[
        ("task_prompt", "task"),
        ("prompt", "task"),
        ("base_ref", "base"),
        ("stage", "stages"),
        ("steps", "stages"),
        ("jobs", "stages"),
        ("inputs", "params"),
        ("vars", "params"),
    ],
    other_form: "",
};

pub(super) fn read(
    reader: &mut WorkflowReader<'_>,
    source: &SourceFile,
    root: &Node,
    given: &GivenValues,
) -> WorkflowDraft {
    let fields = reader.fields(root, "a workflow", &TOP);
    let mut draft = WorkflowDraft {
        name: reader.text(fields.get("name")),
        task: reader.text(fields.get("task")),
        base: reader.parsed(fields.get("base")),
        fail_fast: reader.flag(fields.get("fail_fast")).unwrap_or(false),
        ..WorkflowDraft::default()
    };
    reader.text(fields.get("description"));
    params::read(reader, fields.get("params"), given, &mut draft);
    draft.top.set("name", fields.get("name").map(|field| field.node.at.clone()));
    let defaults = stage::defaults(reader, fields.get("defaults"));
    let Some(Field { name, node }) = fields.get("stages") else { return draft };
    draft.top.set("stages", Some(name.at.clone()));
    let NodeValue::Table(stages) = &node.value else {
        let message = format!("`stages` must be a table of stages by name, not {}", node.kind());
        reader.refuse_shape(node.at.start, message, None);
        return draft;
    };
    if stages.len() > MAX_STAGES {
        let message = format!("{} stages, at most {MAX_STAGES} are allowed", stages.len());
        reader.refuse_shape(name.at.start, message, None);
        return draft;
    }
    let names: Vec<&str> = stages.iter().map(|(name, _)| name.text.as_str()).collect();
    let surroundings = Surroundings { source, names: &names, params: &draft.params, defaults };
    for (name, node) in stages {
        if let Some((stage, marks)) = stage::read(reader, &surroundings, (name, node)) {
            draft.stages.push(stage);
            draft.marks.push(marks);
        }
    }
    draft
}
