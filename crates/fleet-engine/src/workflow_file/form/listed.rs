//! Stages in a list, which need each other by their number: the form that other tools exchange.

use std::collections::BTreeSet;

use fleet_core::limits::Limits;
use fleet_core::workflow::{ChangeRule, MAX_STAGES, Stage, StageName, StageStart};

use super::super::given::GivenValues;
use super::super::node::{Node, NodeValue};
use super::super::reader::{Field, Fields, KnownNames, WorkflowReader};
use super::{SourceMarks, WorkflowDraft, params};

const TOP: KnownNames = KnownNames {
    names: &["name", "task_prompt", "stages", "base_ref", "timeout_seconds"],
    synonyms: &[
        ("task", "task_prompt"),
        ("prompt", "task_prompt"),
        ("base", "base_ref"),
        ("timeout", "timeout_seconds"),
    ],
    other_form: "",
};

/// People who write a list mix the two forms up.
const OTHER_FORM: &str =
    " Stages in a list have the keys of other tools; `agent`, `prompt` and `needs` go with `[stages.NAME]`";

const STAGE: KnownNames = KnownNames {
    names: &[
        "name",
        "executor",
        "model",
        "prompt_template",
        "worktree_strategy",
        "depends_on",
        "timeout_seconds",
        "reasoning_effort",
        "extra_args",
    ],
    synonyms: &[
        ("agent", "executor"),
        ("prompt", "prompt_template"),
        ("template", "prompt_template"),
        ("needs", "depends_on"),
        ("dependencies", "depends_on"),
        ("start", "worktree_strategy"),
        ("worktree", "worktree_strategy"),
        ("timeout", "timeout_seconds"),
        ("effort", "reasoning_effort"),
        ("args", "extra_args"),
    ],
    other_form: OTHER_FORM,
};

/// A hundred years, as for every other time.
const MAX_SECONDS: u64 = 100 * 366 * 86_400;

pub(super) fn read(reader: &mut WorkflowReader<'_>, root: &Node, given: &GivenValues) -> WorkflowDraft {
    let fields = reader.fields(root, "a workflow", &TOP);
    let mut draft = WorkflowDraft {
        name: reader.text(fields.get("name")),
        task: reader.text(fields.get("task_prompt")),
        base: reader.parsed(fields.get("base_ref")),
        ..WorkflowDraft::default()
    };
    let time = seconds(reader, fields.get("timeout_seconds"));
    params::without(reader, &given.set);
    draft.top.set("name", fields.get("name").map(|field| field.node.at.clone()));
    let Some(Field { name, node }) = fields.get("stages") else { return draft };
    draft.top.set("stages", Some(name.at.clone()));
    let NodeValue::List(stages) = &node.value else { return draft };
    if stages.len() > MAX_STAGES {
        let message = format!("{} stages, at most {MAX_STAGES} are allowed", stages.len());
        reader.refuse_shape(name.at.start, message, None);
        return draft;
    }
    let (mut names, mut given_names) = (TakenNames::default(), Vec::new());
    for node in stages {
        let (given, stage, marks) = stage(reader, node, &mut names, time);
        given_names.push(given);
        draft.stages.push(stage);
        draft.marks.push(marks);
    }
    let changed = draft.stages.iter().zip(&given_names).any(|(stage, given)| stage.name.as_str() != given);
    if let (true, Ok(names)) = (changed, serde_json::to_string(&given_names)) {
        // To find a stage by its given name.
        draft.params.insert("stage_names".to_owned(), names);
    }
    draft
}

fn stage(
    reader: &mut WorkflowReader<'_>,
    node: &Node,
    names: &mut TakenNames,
    time: Option<u64>,
) -> (String, Stage, SourceMarks) {
    let fields = reader.fields(node, "a stage", &STAGE);
    let mut marks = SourceMarks::new(node.at.clone());
    let places = [
        ("name", "name"),
        ("needs", "depends_on"),
        ("prompt", "prompt_template"),
        ("start", "worktree_strategy"),
        ("agent", "executor"),
        ("model", "model"),
        ("extra_args", "extra_args"),
    ];
    for (field, key) in places {
        marks.set(field, fields.get(key).map(|field| field.node.at.clone()));
    }
    let given = name(reader, node, &fields);
    let name = names.unique(&given);
    let needs = needs(reader, fields.get("depends_on"));
    let prompt = prompt(reader, node, &fields);
    let start = reader.word(fields.get("worktree_strategy"), StageStart::ALL).unwrap_or(StageStart::New);
    let seconds = seconds(reader, fields.get("timeout_seconds")).or(time);
    // A stage that builds on others may have nothing to change: a reviewer, a judge.
    let changes = if needs.is_empty() { ChangeRule::Required } else { ChangeRule::Optional };
    let stage = Stage {
        needs,
        agent: reader.agent(fields.get("executor")),
        model: reader.parsed(fields.get("model")),
        effort: reader.text(fields.get("reasoning_effort")),
        extra_args: reader.texts(fields.get("extra_args")).unwrap_or_default(),
        start,
        changes,
        limits: Limits { seconds, ..Limits::default() },
        ..Stage::new(name, prompt)
    };
    (given, stage, marks)
}

fn name(reader: &mut WorkflowReader<'_>, node: &Node, fields: &Fields<'_>) -> String {
    if fields.get("name").is_none() && matches!(node.value, NodeValue::Table(_)) {
        reader.refuse_shape(node.at.start, "a stage has no `name`", None);
    }
    reader.text(fields.get("name")).unwrap_or_default()
}

fn prompt(reader: &mut WorkflowReader<'_>, node: &Node, fields: &Fields<'_>) -> String {
    if fields.get("prompt_template").is_none() && matches!(node.value, NodeValue::Table(_)) {
        reader.refuse_shape(node.at.start, "a stage has no `prompt_template`", None);
    }
    reader.text(fields.get("prompt_template")).unwrap_or_else(|| "-".to_owned())
}

fn needs(reader: &mut WorkflowReader<'_>, field: Option<Field<'_>>) -> Vec<usize> {
    let Some(Field { node, .. }) = field else { return Vec::new() };
    let help = || Some("stages are numbered from 0, in the order of the file".to_owned());
    let NodeValue::List(values) = &node.value else {
        let message = format!("`depends_on` must be a list of numbers, not {}", node.kind());
        reader.refuse_shape(node.at.start, message, help());
        return Vec::new();
    };
    let mut needs = Vec::with_capacity(values.len());
    for value in values {
        match &value.value {
            NodeValue::Number(text) if text.parse::<usize>().is_ok() => needs.extend(text.parse::<usize>()),
            _ => {
                let message = format!(
                    "`depends_on` must be a list of numbers, and {} is not the number of a stage",
                    value.kind()
                );
                reader.refuse_shape(value.at.start, message, help());
            }
        }
    }
    needs
}

/// Nothing and zero are no limit of their own.
fn seconds(reader: &mut WorkflowReader<'_>, field: Option<Field<'_>>) -> Option<u64> {
    reader.number(field, 0..MAX_SECONDS + 1).filter(|seconds| *seconds > 0)
}

/// Names that were given away. Those that mean something else in prompts are taken from the beginning.
struct TakenNames(BTreeSet<String>);

impl Default for TakenNames {
    fn default() -> Self {
        Self(["params", "item", "task_prompt", "workflow"].map(str::to_owned).into())
    }
}

/// Leaves room for a number.
const MAX_LENGTH: usize = StageName::MAX_LENGTH - 6;

impl TakenNames {
    /// A name that fits into a branch and that no other stage has, as near to the given one as can be.
    fn unique(&mut self, given: &str) -> StageName {
        let fits = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
        let words: String = given.chars().take(MAX_LENGTH).map(fits).collect();
        let slug = words.split('-').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-");
        let slug = if slug.is_empty() { "stage" } else { &slug };
        let numbered = (2..).map(|number: u32| format!("{slug}-{number}"));
        let mut candidates = std::iter::once(slug.to_owned()).chain(numbered);
        loop {
            let name = candidates.next().unwrap_or_default();
            if self.0.insert(name.clone())
                && let Ok(name) = name.parse()
            {
                return name;
            }
        }
    }
}
