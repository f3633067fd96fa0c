//! What names mean: those of keys in a file or typed by a person, and those of variables.

use fleet_core::problem::Problem;
use fleet_core::task::AgentName;

use super::key::Key;
use super::{earlier, keys, messages, suggest};
use crate::environment::{is_reserved, is_variable_name};

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

/// Stands for the name of an agent or a variable in suggestions.
const PLACEHOLDER: &str = "NAME";

/// Whether an agent may be called so: `[a-z0-9][a-z0-9_-]{0,31}`.
pub(super) fn is_agent_name(text: &str) -> bool {
    text.parse::<AgentName>().is_ok()
}

pub(super) enum NamedKey {
    Key(&'static Key),
    Section,
    Nothing(Problem),
}

/// Finds what the segments name. They come apart, because a quoted segment of a file may itself hold a dot.
pub(super) fn named(segments: &[&str]) -> NamedKey {
    for key in keys::all() {
        let parts = || key.name.split('.');
        let fits = parts().zip(segments).all(|(part, segment)| part == "*" || part == *segment);
        let length = parts().count();
        if !fits || segments.len() > length {
            continue;
        }
        if segments.len() < length {
            return NamedKey::Section;
        }
        let mut wild = parts().zip(segments).filter(|(part, _)| *part == "*").map(|(_, segment)| *segment);
        return match (wild.next(), wild.next()) {
            (Some(agent), _) if !is_agent_name(agent) => NamedKey::Nothing(messages::agent_name(agent)),
            (_, Some(name)) if !is_variable_name(name) => NamedKey::Nothing(messages::variable_name(name)),
            (_, Some(name)) if is_reserved(name) => NamedKey::Nothing(messages::reserved_variable(name)),
            _ => NamedKey::Key(key),
        };
    }
    NamedKey::Nothing(messages::unknown_key(segments))
}

/// The key of that dotted name, as a person writes it.
pub(super) fn find(name: &str) -> Result<&'static Key, Problem> {
    let segments: Vec<&str> = name.split('.').collect();
    match named(&segments) {
        NamedKey::Key(key) => Ok(key),
        NamedKey::Section => Err(messages::section(name)),
        NamedKey::Nothing(problem) => Err(problem),
    }
}

pub(super) enum Variable {
    /// It sets the key; the name has its wildcard filled in.
    Sets(&'static Key, String),
    NotConfiguration,
    /// It is one of the Python `codefleet`, see [`earlier`].
    Earlier,
    /// It means nothing, but perhaps this one was meant.
    Unknown(Option<String>),
}

/// What the variable `FLEET_{suffix}` means.
pub(super) fn variable(suffix: &str) -> Variable {
    let reserved = |pattern: &&str| match pattern.strip_suffix('*') {
        Some(start) => suffix.starts_with(start),
        None => suffix == *pattern,
    };
    if RESERVED.iter().any(reserved) {
        return Variable::NotConfiguration;
    }
    if earlier::is_known(suffix) {
        return Variable::Earlier;
    }
    let settable = || keys::all().filter(|key| key.has_variable());
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

/// The names that the user may have meant; wildcards are filled with what is in their places.
pub(super) fn likely(given: &str) -> impl Iterator<Item = String> {
    let segment = |place| given.split('.').nth(place);
    let agent = segment(1).map(str::to_ascii_lowercase).filter(|agent| is_agent_name(agent));
    let variable = segment(3).filter(|name| is_variable_name(name)).unwrap_or(PLACEHOLDER).to_owned();
    keys::all().map(move |key| key.name_for(agent.as_deref().unwrap_or(PLACEHOLDER), &variable))
}

/// The variable of this key that the user may have meant. An agent may have a `_` in its name, so what comes behind the
/// name is counted from the end.
fn likely_variable(key: &Key, given: &str) -> String {
    let agent = key.ends().and_then(|(_, tail)| {
        let behind = upper(tail).split('_').count();
        let (_, rest) = given.split_once('_')?;
        let agent = rest.rsplitn(behind + 1, '_').nth(behind)?.to_ascii_lowercase();
        is_agent_name(&agent).then_some(agent)
    });
    upper(&key.name_for(agent.as_deref().unwrap_or(PLACEHOLDER), PLACEHOLDER))
}

/// The segments as they are in a file.
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
