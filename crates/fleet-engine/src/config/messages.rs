//! The wording of every message about configuration.
//!
//! Nothing in a message may disturb a terminal or give a secret away. The place comes later, with [`Problem::at`].

use std::fmt;

use fleet_core::problem::{Code, Problem};

use super::form::TextForm;
use super::key::KeyKind;
use super::value::Mismatch;
use super::{names, secret, suggest};

/// Longer texts are cut in messages.
const LONGEST_SHOWN: usize = 60;
/// A duration without a unit.
pub(super) fn without_unit(name: &str, text: &str) -> Problem {
    let number = text.trim();
    Problem::new(Code::ConfigInvalid, format!("`{name}` needs a unit: {number} what?"))
        .hint(format!("write `{number}s`, `{number}m` or `{number}h`"))
}

/// A message about a section names at most this many of its keys.
const MAX_KEYS_NAMED: usize = 10;

const AGENT_NAME: &str =
    "a name has up to 32 lower-case letters, digits, `-` and `_`, and begins with a letter or digit";

pub(super) fn unknown_key(segments: &[&str]) -> Problem {
    let name = segments.join(".");
    // With `--config postgres://…?a=b` the whole address is taken for a key.
    let shown = quoted(&secret::redact(&names::written(segments)));
    Problem::new(Code::ConfigUnknownKey, format!("unknown key {shown}"))
        .hints(suggest::did_you_mean(&name, names::likely(&name)))
        .hint("`fleet config show` lists the keys")
}

pub(super) fn section(name: &str) -> Problem {
    let start = format!("{name}.");
    let inside: Vec<String> =
        names::likely(&start).filter(|key| key.starts_with(&start)).map(|key| format!("`{key}`")).collect();
    let problem = Problem::new(Code::ConfigUnknownKey, format!("{} is a section, not a key", quoted(name)));
    let more = match inside.len().saturating_sub(MAX_KEYS_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let named = inside.iter().take(MAX_KEYS_NAMED).cloned().collect::<Vec<_>>().join(", ");
    let problem =
        if inside.is_empty() { problem } else { problem.hint(format!("its keys are {named}{more}")) };
    problem.hint("`fleet config show` lists the keys")
}

pub(super) fn agent_name(text: &str) -> Problem {
    Problem::new(Code::ConfigInvalid, format!("{} is not the name of an agent", quoted(text)))
        .hint(AGENT_NAME)
}

pub(super) fn variable_name(text: &str) -> Problem {
    Problem::new(Code::ConfigInvalid, format!("{} is not the name of a variable", quoted(text)))
        .hint("a name has letters, digits and `_`, and does not begin with a digit")
}

pub(super) fn reserved_variable(name: &str) -> Problem {
    Problem::new(Code::ConfigInvalid, format!("{} cannot be set for an agent", quoted(name)))
        .hint("`FLEET_*`, and what points git at a repository, are set by codefleet for each run")
}

pub(super) fn mismatch(name: &str, mismatch: &Mismatch) -> Problem {
    let problem = Problem::new(Code::ConfigInvalid, format!("{} {mismatch}", quoted(name)));
    if mismatch.kind == KeyKind::Text(TextForm::AgentName) { problem.hint(AGENT_NAME) } else { problem }
}

pub(super) fn user_only(name: &str) -> Problem {
    Problem::new(Code::ConfigInvalid, format!("{} cannot be set by a project", quoted(name)))
        .hint(format!("`fleet config set {name} VALUE` sets it for yourself"))
}

pub(super) fn not_utf8() -> Problem {
    Problem::new(Code::ConfigInvalid, "the file is not UTF-8 from here on")
}

/// The parser's message may have lines; a problem has one.
pub(super) fn bad_toml(message: &str) -> Problem {
    let message: Vec<&str> = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    Problem::new(Code::ConfigInvalid, format!("not valid TOML: {}", message.join(", ")))
}

/// Something is in the file where a key has to go.
pub(super) fn obstacle(sentence: String) -> Problem {
    Problem::new(Code::ConfigInvalid, sentence).hint("`fleet config edit` opens the file")
}

/// What a person wrote after `--config`.
pub(super) fn flag(text: &str) -> Problem {
    Problem::new(Code::ConfigInvalid, format!("{} is not KEY=VALUE", quoted(&secret::redact(text))))
        .hint("for example `--config tasks.priority=4`")
}

pub(super) fn of_file(path: &std::path::Path, what: impl fmt::Display) -> Problem {
    Problem::new(Code::ConfigInvalid, format!("{}: {what}", path.display()))
}

/// A foreign text in backquotes: cut, and with everything escaped that is not plainly visible.
pub(crate) fn quoted(text: &str) -> String {
    if text.is_empty() {
        return "an empty text".to_owned();
    }
    let mut shown: String = text.chars().take(LONGEST_SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    let mut visible = String::with_capacity(shown.len() + 2);
    for c in shown.chars() {
        match c {
            '"' | '\'' | '\\' => visible.push(c),
            _ => visible.extend(c.escape_debug()),
        }
    }
    format!("`{visible}`")
}
