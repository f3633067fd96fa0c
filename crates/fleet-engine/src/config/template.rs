//! The template of a new configuration file, made from the table of keys. Every line is a comment.

use super::form::TextForm;
use super::key::{Key, KeyKind};
use super::keys;
use super::value::ConfigValue;

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

const PROJECT_INTRODUCTION: &str = "\
# Settings of this project for codefleet: commit this file, it is for everyone who works here.
#
# `fleet config --show-origin` shows what is in force. Settings of this file that start programs, copy files or cost
# more apply only after each user has approved them: `fleet trust`.
";

/// A key of a project's file: set, or with a suggestion that is commented out.
pub struct ProjectLine {
    pub key: &'static str,
    pub value: ConfigValue,
    pub is_set: bool,
}

/// The file of a project with these lines, each with what it means.
pub fn project_template(lines: &[ProjectLine]) -> String {
    std::iter::once(PROJECT_INTRODUCTION.to_owned()).chain(lines.iter().map(project_paragraph)).collect()
}

fn project_paragraph(ProjectLine { key, value, is_set }: &ProjectLine) -> String {
    let doc = keys::all().find(|known| known.name == *key).map_or("", |known| known.doc);
    let value = value.to_toml().map(|value| value.to_string()).unwrap_or_default();
    format!("\n# {doc}\n{}{key} = {value}\n", if *is_set { "" } else { "# " })
}

fn paragraph(key: &Key) -> String {
    let name = key.name_for("claude", "NAME");
    let note = if key.default.is_none() { " Not set by default." } else { "" };
    format!("\n# {}{note}\n# {name} = {}\n", key.doc, example(key))
}

fn example(key: &Key) -> String {
    let default = key.default.and_then(|text| ConfigValue::from_text(key.kind, text).ok()?.to_toml());
    match (default, key.kind) {
        (Some(value), _) => value.to_string(),
        (None, KeyKind::Integer { min, .. }) => min.to_string(),
        (None, KeyKind::Boolean) => "true".to_owned(),
        (None, KeyKind::List(_)) => "[]".to_owned(),
        (None, KeyKind::OneOf(words)) => format!("{:?}", words.first().unwrap_or(&"VALUE")),
        (None, KeyKind::Text(TextForm::AgentName)) => "\"claude\"".to_owned(),
        (None, KeyKind::Text(_) | KeyKind::Quantity { .. }) => "\"VALUE\"".to_owned(),
    }
}
