//! What can be wrong with a piece of configuration, before it is known where it stood.
//!
//! Owns the wording of every message about configuration, and that nothing in it can disturb a terminal or give
//! a secret away. Must never know about files: the place is added by [`Flaw::at`].

use std::fmt;

use fleet_core::problem::{Code, Problem};

use super::form::Form;
use super::keys::{self, Kind};
use super::value::Mismatch;
use super::{secret, suggest};

/// Longer texts are cut in messages.
const SHOWN: usize = 60;
/// So many keys of a section are named.
const NAMED: usize = 10;

const AGENT_NAME: &str =
    "a name has up to 32 lower-case letters, digits, `-` and `_`, and begins with a letter or digit";

/// What is wrong, and what to do about it.
#[derive(Debug)]
pub(super) struct Flaw {
    code: Code,
    sentence: String,
    hints: Vec<String>,
}

impl Flaw {
    pub(super) fn new(code: Code, sentence: impl Into<String>) -> Self {
        Self { code, sentence: sentence.into(), hints: Vec::new() }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The problem, with the place in front.
    pub(super) fn at(self, place: &impl fmt::Display) -> Problem {
        Problem {
            code: self.code,
            field: None,
            message: format!("{place}: {}", self.sentence),
            hints: self.hints,
        }
    }

    /// The problem of somebody who asked directly.
    pub(super) fn without_place(self) -> Problem {
        Problem { code: self.code, field: None, message: self.sentence, hints: self.hints }
    }

    pub(super) fn unknown_key(segments: &[&str]) -> Self {
        let name = segments.join(".");
        // Somebody who wrote `--config postgres://…?a=b` named the whole address a key.
        let shown = quoted(&secret::redact(&keys::written(segments)));
        let flaw = Self::new(Code::ConfigUnknownKey, format!("unknown key {shown}"));
        let flaw = match suggest::nearest(&name, keys::likely(&name)) {
            Some(meant) => flaw.hint(format!("did you mean `{meant}`?")),
            None => flaw,
        };
        flaw.hint("`fleet config show` lists the keys")
    }

    pub(super) fn section(name: &str) -> Self {
        let start = format!("{name}.");
        let inside: Vec<String> = keys::likely(&start)
            .filter(|key| key.starts_with(&start))
            .map(|key| format!("`{key}`"))
            .collect();
        let flaw = Self::new(Code::ConfigUnknownKey, format!("{} is a section, not a key", quoted(name)));
        let more = match inside.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let named = inside.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
        let flaw = if inside.is_empty() { flaw } else { flaw.hint(format!("its keys are {named}{more}")) };
        flaw.hint("`fleet config show` lists the keys")
    }

    pub(super) fn agent_name(text: &str) -> Self {
        Self::new(Code::ConfigInvalid, format!("{} is not the name of an agent", quoted(text)))
            .hint(AGENT_NAME)
    }

    pub(super) fn variable_name(text: &str) -> Self {
        Self::new(Code::ConfigInvalid, format!("{} is not the name of a variable", quoted(text)))
            .hint("a name has letters, digits and `_`, and does not begin with a digit")
    }

    pub(super) fn reserved_variable(name: &str) -> Self {
        Self::new(Code::ConfigInvalid, format!("{} cannot be set for an agent", quoted(name)))
            .hint("`FLEET_*`, and what points git at a repository, are set by codefleet for each run")
    }

    pub(super) fn mismatch(name: &str, mismatch: &Mismatch) -> Self {
        let flaw = Self::new(Code::ConfigInvalid, format!("{} {mismatch}", quoted(name)));
        if mismatch.kind == Kind::String(Form::AgentName) { flaw.hint(AGENT_NAME) } else { flaw }
    }

    pub(super) fn user_only(name: &str) -> Self {
        Self::new(Code::ConfigInvalid, format!("{} cannot be set by a project", quoted(name)))
            .hint(format!("`fleet config set {name} VALUE` sets it for yourself"))
    }

    pub(super) fn not_utf8() -> Self {
        Self::new(Code::ConfigInvalid, "the file is not UTF-8 from here on")
    }

    /// The parser's message may have lines; a problem has one.
    pub(super) fn bad_toml(message: &str) -> Self {
        let message: Vec<&str> = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        Self::new(Code::ConfigInvalid, format!("not valid TOML: {}", message.join(", ")))
    }

    /// Something stands in the file where a key has to go.
    pub(super) fn obstacle(sentence: String) -> Self {
        Self::new(Code::ConfigInvalid, sentence).hint("`fleet config edit` opens the file")
    }

    /// What a person wrote after `--config`.
    pub(super) fn flag(text: &str) -> Self {
        Self::new(Code::ConfigInvalid, format!("{} is not KEY=VALUE", quoted(&secret::redact(text))))
            .hint("for example `--config tasks.priority=4`")
    }
}

/// A problem of the file as a whole.
pub(super) fn of_file(path: &std::path::Path, what: impl fmt::Display) -> Problem {
    Problem::new(Code::ConfigInvalid, format!("{}: {what}", path.display()))
}

/// A foreign text in backquotes: cut, and with everything escaped that is not plainly visible.
pub(crate) fn quoted(text: &str) -> String {
    if text.is_empty() {
        return "an empty text".to_owned();
    }
    let mut shown: String = text.chars().take(SHOWN).collect();
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
