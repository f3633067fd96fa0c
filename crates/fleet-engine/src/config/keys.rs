//! What can be configured, as data.
//!
//! Owns the table of keys and how a key is named in a file, in the environment and by a person. Must never know
//! what is set: values and layers live elsewhere. A new setting is one row here and one accessor.

use super::flaw::Flaw;
use super::suggest;
use fleet_core::task::AgentName;

/// Something that can be configured.
#[derive(Debug)]
pub struct Key {
    /// The dotted name. At most one segment is `*`, which stands for the name of an agent and has one segment on
    /// either side.
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
    /// Any number of lines of text.
    List,
}

/// What a string has to look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Anything but nothing.
    Plain,
    /// The name of an agent.
    AgentName,
    /// Where the store is. May hold a password, and is therefore secret.
    StoreAddress,
}

/// Who may set a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Every layer.
    Anywhere,
    /// Every layer but the project's file: a repository must not decide this for those who clone it.
    UserOnly,
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

const CAP: Kind = Kind::Integer { min: 0, max: 10_000 };

/// Every key, in the order in which they are shown.
pub const KEYS: &[Key] = &[
    Key {
        name: "store",
        kind: Kind::String(Form::StoreAddress),
        default: Some(Fixed::Text("sqlite")),
        doc: "Where everything is kept: `sqlite` (a file in the home folder), `sqlite:PATH` or `postgres://…`.",
        scope: Scope::UserOnly,
    },
    Key {
        name: "agent",
        kind: Kind::String(Form::AgentName),
        default: Some(Fixed::Text("claude")),
        doc: "The agent for a task that names none.",
        scope: Scope::Anywhere,
    },
    Key {
        name: "color",
        kind: Kind::OneOf(&["auto", "always", "never"]),
        default: Some(Fixed::Text("auto")),
        doc: "Colours in the output: `always`, `never`, or `auto` for terminals only.",
        scope: Scope::UserOnly,
    },
    Key {
        name: "tasks.priority",
        kind: Kind::Integer { min: 1, max: 5 },
        default: Some(Fixed::Integer(3)),
        doc: "The priority of a task that is added without one, from 1 to 5.",
        scope: Scope::Anywhere,
    },
    Key {
        name: "tasks.retries",
        kind: Kind::Integer { min: 0, max: 20 },
        default: Some(Fixed::Integer(2)),
        doc: "How many times a task is tried again after its first run failed.",
        scope: Scope::Anywhere,
    },
    Key {
        name: "tasks.list_limit",
        kind: Kind::Integer { min: 1, max: 10_000 },
        default: Some(Fixed::Integer(50)),
        doc: "How many tasks a list shows at most.",
        scope: Scope::Anywhere,
    },
    Key {
        name: "caps.total",
        kind: CAP,
        default: Some(Fixed::Integer(0)),
        doc: "How many runs there may be at a time; 0 for no cap.",
        scope: Scope::UserOnly,
    },
    Key {
        name: "caps.per_project",
        kind: CAP,
        default: Some(Fixed::Integer(0)),
        doc: "How many runs there may be at a time in one project; 0 for no cap.",
        scope: Scope::UserOnly,
    },
    Key {
        name: "agents.*.model",
        kind: Kind::String(Form::Plain),
        default: None,
        doc: "The model that this agent uses unless the task names one.",
        scope: Scope::Anywhere,
    },
    Key {
        name: "agents.*.cap",
        kind: CAP,
        default: None,
        doc: "How many runs of this agent there may be at a time; 0 for no cap.",
        scope: Scope::UserOnly,
    },
];

/// `FLEET_*` variables that are not configuration, without the prefix. A `*` at the end stands for anything.
const RESERVED: &[&str] = &["HOME", "RUN", "TOKEN", "TASK", "PROJECT", "TEST_*"];

impl Kind {
    /// Whether values of this kind are kept out of sight.
    pub const fn is_secret(self) -> bool {
        matches!(self, Self::String(Form::StoreAddress))
    }
}

impl Key {
    /// The two ends of a name with a wildcard.
    pub(super) fn ends(&self) -> Option<(&'static str, &'static str)> {
        self.name.split_once(".*.")
    }

    /// Whether this is the key, or one of the keys, of that name.
    pub(super) fn covers(&self, name: &str) -> bool {
        let Some((head, tail)) = self.ends() else { return self.name == name };
        between(name, head, tail, '.').is_some()
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
        let wild = parts().zip(segments).find(|(part, _)| *part == "*");
        return match wild {
            Some((_, agent)) if !is_agent_name(agent) => Named::Nothing(Flaw::agent_name(agent)),
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
    match KEYS.iter().find_map(|key| Some((key, set_by(key, suffix)?))) {
        Some((key, name)) => Variable::Sets(key, name),
        None => Variable::Unknown(suggest::nearest(suffix, likely(suffix, '_').map(|name| upper(&name)))),
    }
}

/// The name that the variable sets, when it belongs to this key. An agent with a `-` in its name has no variable.
fn set_by(key: &Key, suffix: &str) -> Option<String> {
    let Some((head, tail)) = key.ends() else {
        return (upper(key.name) == suffix).then(|| key.name.to_owned());
    };
    let agent = between(suffix, &upper(head), &upper(tail), '_')?.to_ascii_lowercase();
    is_agent_name(&agent).then(|| format!("{head}.{agent}.{tail}"))
}

/// The names that somebody may have meant; a wildcard is filled with what stands in its place.
pub(super) fn likely(given: &str, separator: char) -> impl Iterator<Item = String> {
    let agent = given
        .split_once(separator)
        .and_then(|(_, rest)| rest.rsplit_once(separator))
        .map(|(agent, _)| agent.to_ascii_lowercase())
        .filter(|agent| is_agent_name(agent));
    KEYS.iter().map(move |key| key.name.replace('*', agent.as_deref().unwrap_or("NAME")))
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
