//! One stage of the form that people write.

use std::collections::BTreeMap;

use fleet_core::argv;
use fleet_core::limits::{Limit, Limits};
use fleet_core::task::{AgentName, FieldError, ModelName};
use fleet_core::workflow::{
    ChangeRule, Condition, OnConflict, OnFailure, Returns, Stage, StageName, StageStart,
};

use super::super::node::{Node, NodeKey, NodeValue};
use super::super::reader::{Field, Fields, KnownNames, WorkflowReader};
use super::super::source::SourceFile;
use super::{SourceMarks, copies, prompt};
use crate::config::quoted;

const STAGE: KnownNames = KnownNames {
    names: &[
        "agent",
        "model",
        "effort",
        "prompt",
        "prompt_file",
        "needs",
        "start",
        "on_conflict",
        "read_only",
        "changes",
        "returns",
        "when",
        "foreach",
        "count",
        "retries",
        "on_failure",
        "limits",
        "timeout",
        "checks",
        "extra_args",
    ],
    synonyms: &[
        ("executor", "agent"),
        ("prompt_template", "prompt"),
        ("depends_on", "needs"),
        ("dependencies", "needs"),
        ("after", "needs"),
        ("worktree_strategy", "start"),
        ("timeout_seconds", "timeout"),
        ("reasoning_effort", "effort"),
        ("args", "extra_args"),
        ("if", "when"),
        ("matrix", "foreach"),
        ("copies", "count"),
        ("retry", "retries"),
        ("check", "checks"),
        ("tests", "checks"),
    ],
    other_form: "",
};
const DEFAULTS: KnownNames = KnownNames {
    names: &["agent", "model", "effort", "limits", "timeout", "retries"],
    synonyms: &[
        ("executor", "agent"),
        ("reasoning_effort", "effort"),
        ("timeout_seconds", "timeout"),
        ("retry", "retries"),
    ],
    other_form: "",
};
const LIMITS: KnownNames = KnownNames {
    names: &["time", "tokens", "usd"],
    synonyms: &[
        ("timeout", "time"),
        ("seconds", "time"),
        ("cost", "usd"),
        ("budget", "usd"),
        ("money", "usd"),
    ],
    other_form: "",
};

/// As many as the settings allow.
const MAX_RETRIES: u64 = 20;

pub(super) struct Surroundings<'a> {
    pub(super) source: &'a SourceFile,
    pub(super) names: &'a [&'a str],
    pub(super) params: &'a BTreeMap<String, String>,
    pub(super) defaults: StageDefaults,
}

#[derive(Debug, Default)]
pub(super) struct StageDefaults {
    agent: Option<AgentName>,
    model: Option<ModelName>,
    effort: Option<String>,
    limits: Limits,
    retries: Option<u32>,
}

pub(super) fn defaults(reader: &mut WorkflowReader<'_>, field: Option<Field<'_>>) -> StageDefaults {
    let Some(field) = field else { return StageDefaults::default() };
    let fields = reader.fields(field.node, "`defaults`", &DEFAULTS);
    StageDefaults {
        agent: reader.agent(fields.get("agent")),
        model: reader.parsed(fields.get("model")),
        effort: reader.text(fields.get("effort")),
        limits: limits(reader, &fields, Limits::default()),
        retries: retries(reader, &fields),
    }
}

/// Reads a stage; one whose name is wrong is read for what else is wrong.
pub(super) fn read(
    reader: &mut WorkflowReader<'_>,
    around: &Surroundings<'_>,
    (name, node): (&NodeKey, &Node),
) -> Option<(Stage, SourceMarks)> {
    let fields = reader.fields(node, &format!("the stage {}", quoted(&name.text)), &STAGE);
    let defaults = &around.defaults;
    let prompt = prompt::read(reader, around.source, name, &fields);
    let agent = reader.agent(fields.get("agent"));
    // Models and efforts are words of one agent: another one would not understand them.
    let is_default = agent.is_none() || agent == defaults.agent;
    let (model, effort) = if is_default { (&defaults.model, &defaults.effort) } else { (&None, &None) };
    let returns = reader.word(fields.get("returns"), Returns::ALL).unwrap_or(Returns::Report);
    let stage = Stage {
        needs: needs(reader, around, fields.get("needs")),
        agent: agent.or_else(|| defaults.agent.clone()),
        model: reader.parsed(fields.get("model")).or_else(|| model.clone()),
        effort: reader.text(fields.get("effort")).or_else(|| effort.clone()),
        extra_args: reader.texts(fields.get("extra_args")).unwrap_or_default(),
        start: reader.word(fields.get("start"), StageStart::ALL).unwrap_or(StageStart::New),
        on_conflict: reader.word(fields.get("on_conflict"), OnConflict::ALL).unwrap_or(OnConflict::Fail),
        changes: changes(reader, &fields, returns),
        returns,
        when: when(reader, fields.get("when")),
        copies: copies::read(reader, around, &fields),
        retries: retries(reader, &fields).or(defaults.retries),
        limits: limits(reader, &fields, defaults.limits),
        on_failure: reader.word(fields.get("on_failure"), OnFailure::ALL).unwrap_or(OnFailure::Fail),
        checks: checks(reader, fields.get("checks")),
        ..Stage::new(stage_name(reader, name)?, prompt)
    };
    Some((stage, marks(name, &fields)))
}

fn stage_name(reader: &mut WorkflowReader<'_>, name: &NodeKey) -> Option<StageName> {
    match name.text.parse() {
        Ok(name) => Some(name),
        Err(FieldError { why, .. }) => {
            reader.refuse_shape(name.at.start, why, None);
            None
        }
    }
}

/// Where the fields stand, by the names that the model has for them.
fn marks(name: &NodeKey, fields: &Fields<'_>) -> SourceMarks {
    let mut marks = SourceMarks::new(name.at.clone());
    let same = ["agent", "model", "needs", "start", "when", "prompt", "checks", "extra_args"]
        .map(|name| (name, name));
    for (field, key) in
        same.into_iter().chain([("prompt", "prompt_file"), ("copies", "foreach"), ("copies", "count")])
    {
        marks.set(field, fields.get(key).map(|field| field.node.at.clone()));
    }
    marks
}

fn needs(reader: &mut WorkflowReader<'_>, around: &Surroundings<'_>, field: Option<Field<'_>>) -> Vec<usize> {
    let Some(Field { node, .. }) = field else { return Vec::new() };
    let NodeValue::List(values) = &node.value else {
        let message = format!("`needs` must be a list of stages, not {}", node.kind());
        reader.refuse_shape(node.at.start, message, Some("for example needs = [\"review\"]".to_owned()));
        return Vec::new();
    };
    let mut needs = Vec::with_capacity(values.len());
    for value in values {
        if let NodeValue::Text(name) = &value.value {
            needs.extend(find(reader, around, name, value.at.start));
        } else {
            let message = format!("`needs` must be a list of stages, and {} is not a stage", value.kind());
            reader.refuse_shape(value.at.start, message, None);
        }
    }
    needs
}

pub(super) fn find(
    reader: &mut WorkflowReader<'_>,
    around: &Surroundings<'_>,
    name: &str,
    at: usize,
) -> Option<usize> {
    let found = around.names.iter().position(|known| *known == name);
    if found.is_none() {
        let help = reader.meant(name, around.names.iter().map(|&name| name.to_owned()));
        reader.refuse_shape(at, format!("there is no stage {}", quoted(name)), help);
    }
    found
}

/// A stage that returns a verdict or a list has done its work without a change; any other has to change something.
fn changes(reader: &mut WorkflowReader<'_>, fields: &Fields<'_>, returns: Returns) -> ChangeRule {
    let read_only = reader.flag(fields.get("read_only")).unwrap_or(false);
    let named = fields.get("changes");
    let wish = reader.word(named, &[ChangeRule::Required, ChangeRule::Optional]);
    match (wish, named) {
        (Some(_), Some(field)) if read_only => {
            let message = "a stage that is `read_only` changes nothing: leave out `changes`";
            reader.refuse(Some(field.name.at.start), message, None);
            ChangeRule::None
        }
        _ if read_only => ChangeRule::None,
        (Some(wish), _) => wish,
        (None, _) if returns == Returns::Report => ChangeRule::Required,
        (None, _) => ChangeRule::Optional,
    }
}

fn when(reader: &mut WorkflowReader<'_>, field: Option<Field<'_>>) -> Option<Condition> {
    let field = field?;
    let text = match &field.node.value {
        NodeValue::Bool(yes) => yes.to_string(),
        _ => reader.text(Some(field))?,
    };
    match Condition::try_from(text) {
        Ok(condition) => Some(condition),
        Err(error) => {
            let help = "for example \"review.approve == false and implement.files > 0\"".to_owned();
            reader.refuse(Some(field.node.at.start), error.to_string(), Some(help));
            None
        }
    }
}

fn retries(reader: &mut WorkflowReader<'_>, fields: &Fields<'_>) -> Option<u32> {
    let number = reader.number(fields.get("retries"), 0..MAX_RETRIES + 1)?;
    u32::try_from(number).ok()
}

fn limits(reader: &mut WorkflowReader<'_>, fields: &Fields<'_>, defaults: Limits) -> Limits {
    let mut limits = defaults;
    let table = fields.get("limits").map(|field| reader.fields(field.node, "`limits`", &LIMITS));
    let inner = |name| table.as_ref().and_then(|table| table.get(name));
    if let (Some(_), Some(timeout)) = (inner("time"), fields.get("timeout")) {
        let message = "`timeout` is the same as `limits.time`: leave out one of the two";
        reader.refuse(Some(timeout.name.at.start), message, None);
    }
    let all = [
        ("time", fields.get("timeout")),
        ("time", inner("time")),
        ("tokens", inner("tokens")),
        ("usd", inner("usd")),
    ];
    for (name, field) in all {
        let Some(field) = field else { continue };
        match field.node.plain().unwrap_or_default() {
            value if value.is_empty() => {
                let message = format!("`{}` must be a limit, not {}", field.name.text, field.node.kind());
                reader.refuse(Some(field.node.at.start), message, None);
            }
            value => match format!("{name}={value}").parse::<Limit>() {
                Ok(limit) => limits = limits.with(limit),
                Err(error) => reader.refuse(Some(field.node.at.start), error.to_string(), None),
            },
        }
    }
    limits
}

fn checks(reader: &mut WorkflowReader<'_>, field: Option<Field<'_>>) -> Vec<Vec<String>> {
    let Some(field) = field else { return Vec::new() };
    let NodeValue::List(values) = &field.node.value else {
        let message = format!("`checks` must be a list of commands, not {}", field.node.kind());
        reader.refuse(
            Some(field.node.at.start),
            message,
            Some("for example checks = [\"cargo test\"]".to_owned()),
        );
        return Vec::new();
    };
    values.iter().filter_map(|node| check(reader, Field { name: field.name, node })).collect()
}

fn check(reader: &mut WorkflowReader<'_>, field: Field<'_>) -> Option<Vec<String>> {
    if let NodeValue::List(_) = field.node.value {
        return reader.texts(Some(field));
    }
    let text = reader.text(Some(field))?;
    match argv::split(&text) {
        Ok(words) => Some(words),
        Err(why) => {
            let help = format!("to use a shell, name it: [\"sh\", \"-c\", {text:?}]");
            reader.refuse(
                Some(field.node.at.start),
                format!("the check {}: {why}", quoted(&text)),
                Some(help),
            );
            None
        }
    }
}
