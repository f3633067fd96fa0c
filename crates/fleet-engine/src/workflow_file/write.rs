//! A shipped workflow in another format than TOML. Comments are lost on the way: they are TOML's.

use std::fmt::Write as _;

use super::Format;
use super::node::{Node, Value};
use super::toml;

pub(crate) fn written(text: &str, format: Format) -> String {
    let Ok(root) = toml::read(text) else { return text.to_owned() };
    let mut out = String::new();
    match format {
        Format::Toml => return text.to_owned(),
        Format::Json => json(&root, 0, &mut out),
        Format::Yaml => yaml(&root, 0, &mut out),
    }
    out.trim_start().trim_end().to_owned() + "\n"
}

fn indent(depth: usize) -> String {
    "  ".repeat(depth)
}

/// Quoted as JSON, which YAML reads too.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn single(node: &Node) -> Option<String> {
    match &node.value {
        Value::Text(text) => Some(quoted(text)),
        Value::Null => Some("null".to_owned()),
        Value::Bool(_) | Value::Number(_) => node.plain(),
        Value::List(values) => {
            let values: Option<Vec<String>> = values.iter().map(single).collect();
            Some(format!("[{}]", values?.join(", ")))
        }
        Value::Table(_) => None,
    }
}

fn json(node: &Node, depth: usize, out: &mut String) {
    let Value::Table(entries) = &node.value else {
        out.push_str(&single(node).unwrap_or_default());
        return;
    };
    out.push_str("{\n");
    for (number, (name, value)) in entries.iter().enumerate() {
        let comma = if number == 0 { "" } else { ",\n" };
        let _ = write!(out, "{comma}{}{}: ", indent(depth + 1), quoted(&name.text));
        json(value, depth + 1, out);
    }
    let _ = write!(out, "\n{}}}", indent(depth));
}

fn yaml(node: &Node, depth: usize, out: &mut String) {
    match &node.value {
        Value::Table(entries) => {
            for (name, value) in entries {
                let _ = write!(out, "\n{}{}:", indent(depth), name.text);
                yaml(value, depth + 1, out);
            }
        }
        Value::Text(text) if is_block(text) => {
            out.push_str(if text.ends_with('\n') { " |" } else { " |-" });
            for line in text.lines() {
                let _ = write!(out, "\n{}", format!("{}{line}", indent(depth)).trim_end());
            }
        }
        _ => {
            let _ = write!(out, " {}", single(node).unwrap_or_default());
        }
    }
}

/// Several lines that a block shows as they are.
fn is_block(text: &str) -> bool {
    text.contains('\n') && !text.starts_with([' ', '\n', '\t']) && !text.ends_with("\n\n")
}
