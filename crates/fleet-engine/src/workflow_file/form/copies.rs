//! How many parts a stage has.

use fleet_core::workflow::Copies;

use super::super::node::{Node, NodeValue};
use super::super::reader::{Field, Fields, WorkflowReader};
use super::stage::{Surroundings, find};
use crate::config::quoted;

/// Far above the limit of parts, which is checked later.
const MAX_COPIES: u64 = 1_000_000;

/// Reads `foreach` or `count`.
pub(super) fn read(
    reader: &mut WorkflowReader<'_>,
    around: &Surroundings<'_>,
    fields: &Fields<'_>,
) -> Copies {
    let copies = match (fields.get("foreach"), fields.get("count")) {
        (Some(_), Some(count)) => {
            let message = "`foreach` sets how many there are: leave out `count`";
            reader.refuse(Some(count.name.at.start), message, None);
            None
        }
        (Some(field), None) => foreach(reader, around, field),
        (None, Some(field)) => count(reader, around, field),
        (None, None) => None,
    };
    copies.unwrap_or(Copies::One)
}

fn foreach(reader: &mut WorkflowReader<'_>, around: &Surroundings<'_>, field: Field<'_>) -> Option<Copies> {
    let at = field.node.at.start;
    let items = match &field.node.value {
        NodeValue::List(values) => values.iter().filter_map(Node::plain).collect(),
        NodeValue::Text(text) => match text.split_once('.') {
            Some(("params", _)) => {
                param(reader, around, text, at)?.split(',').map(|item| item.trim().to_owned()).collect()
            }
            Some((stage, "items")) => return find(reader, around, stage, at).map(Copies::EachOf),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    };
    let items: Vec<String> = items.into_iter().filter(|item| !item.is_empty()).collect();
    if items.is_empty() {
        let message = format!("{} is not a list of texts", field.node.kind());
        let help =
            "write a list, `\"STAGE.items\"` for what a stage returned, or `\"params.NAME\"`".to_owned();
        reader.refuse(Some(at), message, Some(help));
        return None;
    }
    Some(Copies::Each(items))
}

fn count(reader: &mut WorkflowReader<'_>, around: &Surroundings<'_>, field: Field<'_>) -> Option<Copies> {
    let at = field.node.at.start;
    let count = match &field.node.value {
        NodeValue::Text(text) if text.starts_with("params.") => {
            let value = param(reader, around, text, at)?;
            let number = value.trim().parse().ok();
            // A value that is not set yet is not a number, and not an error.
            if number.is_none() && !value.starts_with('<') {
                reader.refuse(Some(at), format!("{} is not a whole number: {}", text, quoted(&value)), None);
            }
            number?
        }
        _ => u32::try_from(reader.number(Some(field), 0..MAX_COPIES + 1)?).ok()?,
    };
    Some(if count == 1 { Copies::One } else { Copies::Count(count) })
}

fn param(
    reader: &mut WorkflowReader<'_>,
    around: &Surroundings<'_>,
    text: &str,
    at: usize,
) -> Option<String> {
    let name = text.strip_prefix("params.").unwrap_or(text);
    let value = around.params.get(name).cloned();
    if value.is_none() {
        let help = reader.meant(name, around.params.keys().cloned());
        reader.refuse(Some(at), format!("there is no parameter {}", quoted(name)), help);
    }
    value
}
