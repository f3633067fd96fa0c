//! The configuration that is in force.
//!
//! Owns the typed view that the rest of the engine uses. Must never be changed after it was loaded: a new
//! configuration is a new [`Config`].

use std::collections::BTreeMap;

use fleet_core::policy::RateLimits;
use fleet_core::problem::Outcome;
use fleet_core::run::Reason;
use fleet_core::schedule::Caps;

use super::agent::AgentSettings;
use super::flaw::Flaw;
use super::keys::{self, Key, Scope};
use super::setting::{Origin, Setting};
use super::table::KEYS;
use super::typed::{AgentVariables, Color, Ports, RunLimits, Runner, Spending, Typed, Workspaces};
use super::value::Value;

/// What every key is set to, and by whom.
#[derive(Debug, Clone)]
pub struct Config {
    settings: BTreeMap<String, Setting>,
    /// What the user says about keys that the project's file sets, by key.
    overridden: BTreeMap<String, Value>,
    typed: Typed,
}

impl Config {
    pub(super) fn resolve(
        settings: BTreeMap<String, Setting>,
        overridden: BTreeMap<String, Value>,
    ) -> Outcome<Self> {
        let typed = Typed::of(&settings)?;
        Ok(Self { settings, overridden, typed })
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
        let of_key = |key: &'static Key| self.settings.values().filter(|set| key.covers(&set.key));
        KEYS.iter().flat_map(of_key).cloned().collect()
    }

    /// What is in force because the project's file says so, and only the author of the repository wanted: commands,
    /// copies of the user's files, another agent, higher limits. The user has to agree first, see [`crate::trust`].
    pub fn wishes_of_project(&self) -> Vec<Setting> {
        let wishes = |key: &'static Key| {
            self.settings.values().filter(move |set| key.covers(&set.key) && self.needs_consent(key, set))
        };
        KEYS.iter().flat_map(wishes).cloned().collect()
    }

    fn needs_consent(&self, key: &Key, setting: &Setting) -> bool {
        let own = self.overridden.get(&setting.key).unwrap_or(&Value::Unset);
        let asks = match key.scope {
            Scope::Consented => setting.value != *own && setting.value != Value::List(Vec::new()),
            Scope::Raising => key.kind.amount(&setting.value) > key.kind.amount(own),
            Scope::Anywhere | Scope::UserOnly | Scope::Lowering(_) => false,
        };
        asks && matches!(setting.origin, Origin::Project { .. })
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

    /// How many generations of tasks agents may add below a task of the user's.
    pub fn spawn_depth(&self) -> u32 {
        self.typed.spawn_depth
    }

    /// Folders in whose repositories agents may work, as they were written; none is everywhere.
    pub fn allowed_repos(&self) -> &[String] {
        &self.typed.allowed_repos
    }

    /// How patient one is with a provider that asks to slow down.
    pub fn rate_limits(&self) -> RateLimits {
        self.typed.rate_limits
    }

    /// Whether a setting is known to this process alone: a variable or a flag said it, which another process, such as a
    /// runner that is up, has never seen.
    pub fn is_here_alone(&self, name: &str) -> bool {
        let origin = self.settings.get(name).map(|setting| &setting.origin);
        matches!(origin, Some(Origin::Environment { .. } | Origin::Flag))
    }

    /// Whether the project's file says it, and nobody else after it.
    pub(crate) fn is_of_project(&self, name: &str) -> bool {
        matches!(self.settings.get(name), Some(Setting { origin: Origin::Project { .. }, .. }))
    }

    /// How many runs there may be at a time.
    pub fn caps(&self) -> &Caps {
        &self.typed.caps
    }

    /// Whether commands that queue work start the runner when none is up.
    pub fn autostart(&self) -> bool {
        self.typed.runner.autostart
    }

    /// How the runner of this machine works.
    pub fn runner(&self) -> &Runner {
        &self.typed.runner
    }

    /// What a run may use when its task does not say otherwise.
    pub fn limits(&self) -> &RunLimits {
        &self.typed.limits
    }

    /// How workspaces are made and kept.
    pub fn workspaces(&self) -> &Workspaces {
        &self.typed.workspaces
    }

    /// Which ports runs may use.
    pub fn ports(&self) -> &Ports {
        &self.typed.ports
    }

    /// What this agent sees of the user's environment, and what is set for it.
    pub fn variables_for(&self, agent: &str) -> AgentVariables {
        self.typed.variables.get(agent).cloned().unwrap_or_default()
    }

    /// The model that this agent uses unless the task names one.
    pub fn model_for(&self, agent: &str) -> Option<&str> {
        self.typed.agents.get(agent)?.model.as_deref()
    }

    /// What is set for this agent.
    pub fn agent_settings(&self, agent: &str) -> AgentSettings {
        self.typed.agents.get(agent).cloned().unwrap_or_default()
    }

    /// The agents about which anything is set, known or not.
    pub fn named_agents(&self) -> impl Iterator<Item = &str> {
        self.typed.agents.keys().map(String::as_str)
    }

    /// Who may go on with a task of this agent when it cannot, in order; never the agent itself.
    pub fn fallback_for(&self, agent: &str) -> Vec<String> {
        let own = self.typed.agents.get(agent).and_then(|settings| settings.fallback.as_ref());
        own.unwrap_or(&self.typed.fallback).iter().filter(|other| *other != agent).cloned().collect()
    }

    /// What is done about each failure, in the words of the configuration.
    pub fn policy(&self) -> &BTreeMap<Reason, String> {
        &self.typed.policy
    }

    /// What all runs together may use.
    pub fn spending(&self) -> &Spending {
        &self.typed.spending
    }
}
