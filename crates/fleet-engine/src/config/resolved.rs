//! The configuration that is in force.
//!
//! Owns the typed view that the rest of the engine uses. Must never be changed after it was loaded: a new
//! configuration is a new [`Config`].

use std::collections::BTreeMap;

use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::schedule::Caps;

use super::flaw::Flaw;
use super::keys::{self, KEYS};
use super::secret::Secret;
use super::setting::{Origin, Setting};
use super::value::Value;

/// What every key is set to, and by whom.
#[derive(Debug, Clone)]
pub struct Config {
    settings: BTreeMap<String, Setting>,
    typed: Typed,
}

/// When output is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Color {
    /// When it goes to a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The settings as what they are, converted once so that those who ask cannot fail.
#[derive(Debug, Clone)]
struct Typed {
    store: Secret,
    agent: String,
    color: Color,
    priority: u8,
    retries: u32,
    list_limit: u32,
    caps: Caps,
    models: BTreeMap<String, String>,
}

impl Config {
    pub(super) fn resolve(settings: BTreeMap<String, Setting>) -> Outcome<Self> {
        let typed = Typed::of(&Reader { settings: &settings })?;
        Ok(Self { settings, typed })
    }

    /// What this key is set to; [`Value::Unset`] when nothing set it and it has no default.
    pub fn get(&self, name: &str) -> Outcome<Setting> {
        keys::find(name).map_err(Flaw::without_place)?;
        Ok(self.settings.get(name).cloned().unwrap_or_else(|| Setting {
            key: name.to_owned(),
            value: Value::Unset,
            origin: Origin::Default,
        }))
    }

    /// Everything that is set, defaults included, in the order of [`KEYS`].
    pub fn settings(&self) -> Vec<Setting> {
        let of_key = |key: &'static keys::Key| self.settings.values().filter(|set| key.covers(&set.key));
        KEYS.iter().flat_map(of_key).cloned().collect()
    }

    /// Where the store is, password included.
    pub fn store(&self) -> &str {
        self.typed.store.revealed()
    }

    /// The agent for a task that names none.
    pub fn agent(&self) -> &str {
        &self.typed.agent
    }

    /// When output is coloured.
    pub fn color(&self) -> Color {
        self.typed.color
    }

    /// The priority of a task that is added without one.
    pub fn priority(&self) -> u8 {
        self.typed.priority
    }

    /// How many times a task is tried again.
    pub fn retries(&self) -> u32 {
        self.typed.retries
    }

    /// How many tasks a list shows at most.
    pub fn list_limit(&self) -> u32 {
        self.typed.list_limit
    }

    /// How many runs there may be at a time.
    pub fn caps(&self) -> &Caps {
        &self.typed.caps
    }

    /// The model that this agent uses unless the task names one.
    pub fn model_for(&self, agent: &str) -> Option<&str> {
        self.typed.models.get(agent).map(String::as_str)
    }
}

impl Typed {
    fn of(reader: &Reader<'_>) -> Outcome<Self> {
        let caps = Caps {
            total: some_cap(reader.integer("caps.total")?),
            per_project: some_cap(reader.integer("caps.per_project")?),
            per_agent: reader
                .of_agents(".cap", Reader::integer)?
                .filter_map(|(agent, cap)| Some((agent, some_cap(cap)?)))
                .collect(),
        };
        Ok(Self {
            store: reader.secret("store")?,
            agent: reader.string("agent")?,
            color: reader.color("color")?,
            priority: reader.integer("tasks.priority")?,
            retries: reader.integer("tasks.retries")?,
            list_limit: reader.integer("tasks.list_limit")?,
            caps,
            models: reader.of_agents(".model", Reader::string)?.collect(),
        })
    }
}

fn some_cap(cap: u32) -> Option<u32> {
    Some(cap).filter(|cap| *cap > 0)
}

/// Takes settings out as their types. Every value was checked against the table of keys, so a failure here says
/// that the table and this file disagree.
struct Reader<'a> {
    settings: &'a BTreeMap<String, Setting>,
}

impl Reader<'_> {
    fn integer<T: TryFrom<i64>>(&self, name: &str) -> Outcome<T> {
        match self.value(name) {
            Some(Value::Integer(number)) => T::try_from(*number).map_err(|_| defect(name)),
            _ => Err(defect(name)),
        }
    }

    fn string(&self, name: &str) -> Outcome<String> {
        match self.value(name) {
            Some(Value::String(text)) => Ok(text.clone()),
            _ => Err(defect(name)),
        }
    }

    fn secret(&self, name: &str) -> Outcome<Secret> {
        match self.value(name) {
            Some(Value::Secret(secret)) => Ok(secret.clone()),
            _ => Err(defect(name)),
        }
    }

    fn color(&self, name: &str) -> Outcome<Color> {
        match self.string(name)?.as_str() {
            "auto" => Ok(Color::Auto),
            "always" => Ok(Color::Always),
            "never" => Ok(Color::Never),
            _ => Err(defect(name)),
        }
    }

    /// What is set for each agent under names that end so.
    fn of_agents<T>(
        &self,
        end: &str,
        read: fn(&Self, &str) -> Outcome<T>,
    ) -> Outcome<impl Iterator<Item = (String, T)> + use<T>> {
        let mut found = Vec::new();
        for name in self.settings.keys() {
            let agent = name.strip_prefix("agents.").and_then(|rest| rest.strip_suffix(end));
            if let Some(agent) = agent {
                found.push((agent.to_owned(), read(self, name)?));
            }
        }
        Ok(found.into_iter())
    }

    fn value(&self, name: &str) -> Option<&Value> {
        self.settings.get(name).map(|setting| &setting.value)
    }
}

fn defect(name: &str) -> Problem {
    Problem::new(Code::Internal, format!("the setting `{name}` is not what its key says"))
}
