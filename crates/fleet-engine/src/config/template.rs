//! The template of a new configuration file, made from the table of keys. Every line is a comment.

use super::form::Form;
use super::key::{Key, Kind};
use super::keys;
use super::value::Value;

const INTRODUCTION: &str = "\
# Configuration of codefleet.
#
# Each line below shows a key with its default; take the `# ` away to change it.
# `fleet config show` tells what is in force, and where it was set.
";

/// A file with every key, its default and what it means, that changes nothing.
pub fn template() -> String {
    std::iter::once(INTRODUCTION.to_owned()).chain(keys::all().map(paragraph)).collect()
}

fn paragraph(key: &Key) -> String {
    let name = key.name_for("claude", "NAME");
    let note = if key.default.is_none() { " Not set by default." } else { "" };
    format!("\n# {}{note}\n# {name} = {}\n", key.doc, example(key))
}

fn example(key: &Key) -> String {
    let default = key.default.and_then(|text| Value::from_text(key.kind, text).ok()?.to_toml());
    match (default, key.kind) {
        (Some(value), _) => value.to_string(),
        (None, Kind::Integer { min, .. }) => min.to_string(),
        (None, Kind::Boolean) => "true".to_owned(),
        (None, Kind::List(_)) => "[]".to_owned(),
        (None, Kind::OneOf(words)) => format!("{:?}", words.first().unwrap_or(&"VALUE")),
        (None, Kind::Text(Form::AgentName)) => "\"claude\"".to_owned(),
        (None, Kind::Text(_) | Kind::Quantity { .. }) => "\"VALUE\"".to_owned(),
    }
}
