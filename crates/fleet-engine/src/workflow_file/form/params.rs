//! Parameters: names with defaults, and the values that the user sets.

use std::collections::BTreeMap;

use super::super::given::{GivenValues, SourcePurpose};
use super::super::node::{Node, NodeKey, NodeValue};
use super::super::reader::{Field, KnownNames, WorkflowReader};
use super::WorkflowDraft;
use crate::config::quoted;

const PARAM: KnownNames = KnownNames {
    names: &["default", "description", "required"],
    synonyms: &[("value", "default"), ("help", "description"), ("about", "description")],
    other_form: "",
};

/// Fills the parameters of a draft.
pub(super) fn read(
    reader: &mut WorkflowReader<'_>,
    field: Option<Field<'_>>,
    given: &GivenValues,
    draft: &mut WorkflowDraft,
) {
    let mut set = settings(reader, &given.set);
    let entries = match field.map(|field| (&field.node.value, field.node)) {
        None => &[][..],
        Some((NodeValue::Table(entries), _)) => entries.as_slice(),
        Some((_, node)) => {
            reader.refuse_shape(
                node.at.start,
                format!("`params` must be a table, not {}", node.kind()),
                None,
            );
            &[]
        }
    };
    for (name, node) in entries {
        let default = one(reader, name, node);
        let value = set.remove(&name.text).or(default).unwrap_or_else(|| {
            draft.missing.push(name.text.clone());
            if given.purpose == SourcePurpose::Run {
                let message = format!("the parameter {} has no value", quoted(&name.text));
                let help = format!("set it: {}=VALUE", name.text);
                reader.refuse(Some(name.at.start), message, Some(help));
            }
            format!("<{}>", name.text)
        });
        if draft.params.insert(name.text.clone(), value).is_some() {
            reader.refuse_shape(name.at.start, format!("{} appears twice", quoted(&name.text)), None);
        }
    }
    let known: Vec<String> = draft.params.keys().cloned().collect();
    for name in set.keys() {
        unknown(reader, name, &known);
    }
}

/// For workflows that have no parameters.
pub(super) fn without(reader: &mut WorkflowReader<'_>, set: &[String]) {
    for name in settings(reader, set).keys() {
        unknown(reader, name, &[]);
    }
}

fn unknown(reader: &mut WorkflowReader<'_>, name: &str, known: &[String]) {
    let help = match known {
        [] => "it has no parameters".to_owned(),
        known => reader
            .meant(name, known.iter().cloned())
            .unwrap_or_else(|| format!("its parameters are {}", known.join(", "))),
    };
    reader.refuse(None, format!("there is no parameter {} to set", quoted(name)), Some(help));
}

/// The settings of the command line; the last one for a name counts.
fn settings(reader: &mut WorkflowReader<'_>, set: &[String]) -> BTreeMap<String, String> {
    let mut settings = BTreeMap::new();
    for text in set {
        if let Some((name, value)) = text.split_once('=') {
            settings.insert(name.trim().to_owned(), value.to_owned());
        } else {
            let help = Some("for example depth=deep".to_owned());
            reader.refuse(None, format!("the parameter {} is not KEY=VALUE", quoted(text)), help);
        }
    }
    settings
}

/// The default of a parameter; none if it is required.
fn one(reader: &mut WorkflowReader<'_>, name: &NodeKey, node: &Node) -> Option<String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.text.is_empty() || name.text.len() > 64 || !name.text.chars().all(fits) {
        let message = format!(
            "{} is not the name of a parameter: letters, digits, - and _, at most 64",
            quoted(&name.text)
        );
        reader.refuse_shape(name.at.start, message, None);
    }
    match &node.value {
        NodeValue::Null => None,
        NodeValue::Table(_) => described(reader, node),
        _ => {
            let value = node.plain();
            if value.is_none() {
                let message = format!("a default is a single value, not {}", node.kind());
                let help = "several are one text with commas: \"a, b\"".to_owned();
                reader.refuse(Some(node.at.start), message, Some(help));
            }
            Some(value.unwrap_or_default())
        }
    }
}

fn described(reader: &mut WorkflowReader<'_>, node: &Node) -> Option<String> {
    let fields = reader.fields(node, "a parameter", &PARAM);
    reader.text(fields.get("description"));
    let required = reader.flag(fields.get("required"));
    let Some(default) = fields.get("default") else {
        return (required == Some(false)).then(String::new);
    };
    if required == Some(true) {
        let message = "a parameter with a default cannot be required: leave out one of the two";
        reader.refuse(Some(default.name.at.start), message, None);
    }
    let value = default.node.plain();
    if value.is_none() {
        let message = format!("`default` must be a single value, not {}", default.node.kind());
        reader.refuse(Some(default.node.at.start), message, None);
    }
    Some(value.unwrap_or_default())
}
