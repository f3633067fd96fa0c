//! What a key is, and how it is named.
//!
//! Owns the name of a key in a file, in the environment and by a person. Must never know what is set: values and
//! layers live elsewhere. The keys themselves are in [`KEYS`].

use super::earlier;
use super::flaw::Flaw;
use super::form::Form;
use super::suggest;
use super::table::KEYS;
use super::value::Value;
use crate::environment::{is_reserved, is_variable_name};
use fleet_core::size::Size;
use fleet_core::task::AgentName;
use fleet_core::time::Span;

/// Something that can be configured.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// The dotted name. A first `*` stands for the name of an agent and has one segment before it. A second one
    /// stands at the end, for the name of a variable.
    pub name: &'static str,
    /// Which values are allowed.
    pub kind: Kind,
    /// The value when no layer sets it.
    pub default: Option<Fixed>,
    /// One line for the template and the documentation.
    pub doc: &'static str,
    /// Who may set it.
    pub scope: Scope,
}

/// Which values a key takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A line of text of this form.
    String(Form),
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A whole number in this range, both ends included.
    Integer {
        /// The smallest.
        min: i64,
        /// The largest.
        max: i64,
    },
    /// `true` or `false`.
    Boolean,
    /// Any number of texts of this form.
    List(Form),
}

/// Who may set a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Every layer.
    Anywhere,
    /// Every layer but the project's file: a repository must not decide this for those who clone it.
    UserOnly,
    /// Every layer; but what a project's file says needs the user's consent, see [`crate::trust`].
    Consented,
    /// The same for a project's file that allows more than the user does.
    Raising,
    /// Every layer; but a project's file counts only if it says an earlier word than the user does, who says this one
    /// if nothing else.
    Lowering(&'static str),
}

/// A default, in a form that fits in a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fixed {
    /// For strings and words.
    Text(&'static str),
    /// For numbers.
    Integer(i64),
    /// For `true` and `false`.
    Boolean(bool),
    /// For lists.
    List(&'static [&'static str]),
}

/// `FLEET_*` variables that are not configuration, without the prefix. A `*` at the end stands for anything.
const RESERVED: &[&str] = &[
    "BASE",
    "BASE_DIR",
    "BATCH",
    "BIN",
    "BRANCH",
    "DEPTH",
    "DOOR",
    "HOME",
    "PORT",
    "PORTS",
    "PORT_COUNT",
    "PROJECT",
    "RUN",
    "RUN_DIR",
    "SETTINGS",
    "TASK",
    "WORKSPACE",
    "TEST_*",
];

/// What stands in a name for an agent or a variable that nobody named.
const SOMETHING: &str = "NAME";

impl Kind {
    /// Whether values of this kind are kept out of sight.
    pub const fn is_secret(self) -> bool {
        matches!(self, Self::String(Form::StoreAddress | Form::VariableValue))
    }

    /// How much a value of this kind allows, to compare two of one key. `none` and what is not an amount bound nothing.
    pub(super) fn amount(self, value: &Value) -> u128 {
        let amount = match (self, value) {
            (_, Value::Integer(number)) => u128::try_from(*number).ok(),
            (Self::String(Form::Duration { .. }), Value::String(text)) => {
                text.parse::<Span>().ok().map(|Span(span)| span.as_millis())
            }
            (Self::String(Form::Size { .. }), Value::String(text)) => {
                text.parse::<Size>().ok().map(|size| size.0.into())
            }
            _ => None,
        };
        amount.unwrap_or(u128::MAX)
    }
}

impl Key {
    /// The two ends of a name with a wildcard.
    fn ends(&self) -> Option<(&'static str, &'static str)> {
        self.name.split_once(".*.")
    }

    /// Whether this is the key, or one of the keys, of that name. No name of an agent or a variable has a dot.
    pub(super) fn covers(&self, name: &str) -> bool {
        let (mut parts, mut segments) = (self.name.split('.'), name.split('.'));
        loop {
            match (parts.next(), segments.next()) {
                (None, None) => return true,
                (Some(part), Some(segment)) if part == "*" || part == segment => {}
                _ => return false,
            }
        }
    }

    /// The name with its wildcards filled in.
    pub(super) fn name_for(&self, agent: &str, variable: &str) -> String {
        self.name.replacen('*', agent, 1).replace('*', variable)
    }

    /// Whether a variable can set it: not when it is itself about a variable, whose case would be lost.
    pub(super) fn has_variable(&self) -> bool {
        !self.name.ends_with(".*")
    }
}

/// Whether an agent may be called so: `[a-z0-9][a-z0-9_-]{0,31}`.
pub fn is_agent_name(text: &str) -> bool {
    text.parse::<AgentName>().is_ok()
}

/// What a path of segments names.
pub(super) enum Named {
    /// A key.
    Key(&'static Key),
    /// A table that holds keys.
    Section,
    /// Nothing, and this is why.
    Nothing(Flaw),
}

/// Finds what the segments name. They come apart, because a quoted segment of a file may itself hold a dot.
pub(super) fn named(segments: &[&str]) -> Named {
    for key in KEYS {
        let parts = || key.name.split('.');
        let fits = parts().zip(segments).all(|(part, segment)| part == "*" || part == *segment);
        let length = parts().count();
        if !fits || segments.len() > length {
            continue;
        }
        if segments.len() < length {
            return Named::Section;
        }
        let mut wild = parts().zip(segments).filter(|(part, _)| *part == "*").map(|(_, segment)| *segment);
        return match (wild.next(), wild.next()) {
            (Some(agent), _) if !is_agent_name(agent) => Named::Nothing(Flaw::agent_name(agent)),
            (_, Some(name)) if !is_variable_name(name) => Named::Nothing(Flaw::variable_name(name)),
            (_, Some(name)) if is_reserved(name) => Named::Nothing(Flaw::reserved_variable(name)),
            _ => Named::Key(key),
        };
    }
    Named::Nothing(Flaw::unknown_key(segments))
}

/// The key of that dotted name, as a person writes it.
pub(super) fn find(name: &str) -> Result<&'static Key, Flaw> {
    let segments: Vec<&str> = name.split('.').collect();
    match named(&segments) {
        Named::Key(key) => Ok(key),
        Named::Section => Err(Flaw::section(name)),
        Named::Nothing(flaw) => Err(flaw),
    }
}

/// What a variable means.
pub(super) enum Variable {
    /// It sets the key; the name has its wildcard filled in.
    Sets(&'static Key, String),
    /// It is not configuration.
    Reserved,
    /// It is one of the Python `codefleet`, see [`earlier`].
    Earlier,
    /// Nothing, but perhaps this one was meant.
    Unknown(Option<String>),
}

/// What the variable `FLEET_{suffix}` means.
pub(super) fn variable(suffix: &str) -> Variable {
    let reserved = |pattern: &&str| match pattern.strip_suffix('*') {
        Some(start) => suffix.starts_with(start),
        None => suffix == *pattern,
    };
    if RESERVED.iter().any(reserved) {
        return Variable::Reserved;
    }
    if earlier::is_known(suffix) {
        return Variable::Earlier;
    }
    let settable = || KEYS.iter().filter(|key| key.has_variable());
    // `AGENTS_X_RESUME_ARGS` is `resume_args` of `x`, not `args` of `x_resume`: the longest end counts.
    let sets = settable().filter_map(|key| Some((key, set_by(key, suffix)?)));
    if let Some((key, name)) = sets.max_by_key(|(key, _)| key.name.len()) {
        return Variable::Sets(key, name);
    }
    Variable::Unknown(suggest::nearest(suffix, settable().map(|key| likely_variable(key, suffix))))
}

/// The name that the variable sets, when it belongs to this key. An agent with a `-` in its name has no variable.
fn set_by(key: &Key, suffix: &str) -> Option<String> {
    let Some((head, tail)) = key.ends() else {
        return (upper(key.name) == suffix).then(|| key.name.to_owned());
    };
    let agent = between(suffix, &upper(head), &upper(tail), '_')?.to_ascii_lowercase();
    is_agent_name(&agent).then(|| format!("{head}.{agent}.{tail}"))
}

/// The names that somebody may have meant; wildcards are filled with what stands in their places.
pub(super) fn likely(given: &str) -> impl Iterator<Item = String> {
    let segment = |place| given.split('.').nth(place);
    let agent = segment(1).map(str::to_ascii_lowercase).filter(|agent| is_agent_name(agent));
    let variable = segment(3).filter(|name| is_variable_name(name)).unwrap_or(SOMETHING).to_owned();
    KEYS.iter().map(move |key| key.name_for(agent.as_deref().unwrap_or(SOMETHING), &variable))
}

/// The variable of this key that somebody may have meant. An agent may have a `_` in its name, so what comes
/// behind the name is counted from the end.
fn likely_variable(key: &Key, given: &str) -> String {
    let agent = key.ends().and_then(|(_, tail)| {
        let behind = upper(tail).split('_').count();
        let (_, rest) = given.split_once('_')?;
        let agent = rest.rsplitn(behind + 1, '_').nth(behind)?.to_ascii_lowercase();
        is_agent_name(&agent).then_some(agent)
    });
    upper(&key.name_for(agent.as_deref().unwrap_or(SOMETHING), SOMETHING))
}

/// The segments as they stand in a file.
pub(super) fn written(segments: &[&str]) -> String {
    let parts: Vec<String> = segments.iter().map(|part| toml_edit::Key::new(*part).to_string()).collect();
    parts.join(".")
}

fn between<'t>(text: &'t str, head: &str, tail: &str, separator: char) -> Option<&'t str> {
    text.strip_prefix(head)?.strip_prefix(separator)?.strip_suffix(tail)?.strip_suffix(separator)
}

fn upper(name: &str) -> String {
    name.replace('.', "_").to_ascii_uppercase()
}
