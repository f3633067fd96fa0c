//! A shipped workflow in another format than TOML. Comments are lost on the way: they are TOML's.

use std::fmt::Write as _;

use super::FileFormat;
use super::node::{Node, NodeValue};
use super::toml;

pub(crate) fn written(text: &str, format: FileFormat) -> String {
    let Ok(root) = toml::read(text) else { return text.to_owned() };
    let mut out = String::new();
    match format {
        FileFormat::Toml => return text.to_owned(),
        FileFormat::Json => json(&root, 0, &mut out),
        FileFormat::Yaml => yaml(&root, 0, &mut out),
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
        NodeValue::Text(text) => Some(quoted(text)),
        NodeValue::Null => Some("null".to_owned()),
        NodeValue::Bool(_) | NodeValue::Number(_) => node.plain(),
        NodeValue::List(values) => {
            let values: Option<Vec<String>> = values.iter().map(single).collect();
            Some(format!("[{}]", values?.join(", ")))
        }
        NodeValue::Table(_) => None,
    }
}

fn json(node: &Node, depth: usize, out: &mut String) {
    let NodeValue::Table(entries) = &node.value else {
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
        NodeValue::Table(entries) => {
            for (name, value) in entries {
                let _ = write!(out, "\n{}{}:", indent(depth), name.text);
                yaml(value, depth + 1, out);
            }
        }
        NodeValue::Text(text) if is_block(text) => {
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
