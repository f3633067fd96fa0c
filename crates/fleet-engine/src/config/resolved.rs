//! The configuration that is in force. A new configuration is a new [`Config`].

use std::collections::BTreeMap;

use fleet_core::admission::AdmissionLimits;
use fleet_core::policy::RateLimits;
use fleet_core::problem::Outcome;
use fleet_core::run::Reason;
use fleet_core::schedule::Caps;

use super::key::{Key, KeyScope};
use super::keys::{self, AdmissionSettings, AgentSettings, Sections};
use super::names;
use super::read::SettingsByKey;
use super::secret::Secret;
use super::setting::{Origin, Setting};
use super::value::ConfigValue;

#[derive(Debug, Clone)]
pub struct Config {
    settings: SettingsByKey,
    /// What the user says about keys that the project's file sets, by key.
    overridden: BTreeMap<String, ConfigValue>,
    pub(super) sections: Sections,
}

/// What an agent sees of the user's environment, and what is set for it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentVariables {
    /// Names of variables of the user's, or beginnings of names with a `*` at the end.
    pub pass: Vec<String>,
    pub set: BTreeMap<String, Secret>,
}

impl Config {
    pub(super) fn resolve(
        settings: SettingsByKey,
        overridden: BTreeMap<String, ConfigValue>,
    ) -> Outcome<Self> {
        let sections = Sections::read(&settings)?;
        Ok(Self { settings, overridden, sections })
    }

    /// What this key is set to; [`ConfigValue::Unset`] when nothing set it and it has no default.
    pub fn get(&self, name: &str) -> Outcome<Setting> {
        names::find(name)?;
        Ok(self.settings.get(name).cloned().unwrap_or_else(|| Setting {
            key: name.to_owned(),
            value: ConfigValue::Unset,
            origin: Origin::Default,
        }))
    }

    /// Everything that is set, defaults included, in the order of the table of keys.
    pub fn settings(&self) -> Vec<Setting> {
        self.chosen(|_, _| true)
    }

    /// What is in force because the project's file says so, and only the author of the repository wanted: commands,
    /// copies of the user's files, another agent, higher limits. The user has to agree first, see [`crate::trust`].
    pub fn wishes_of_project(&self) -> Vec<Setting> {
        self.chosen(|key, setting| self.needs_consent(key, setting))
    }

    fn chosen(&self, is_chosen: impl Fn(&Key, &Setting) -> bool) -> Vec<Setting> {
        let is_chosen = &is_chosen;
        let of_key = |key: &'static Key| {
            self.settings.values().filter(move |setting| key.covers(&setting.key) && is_chosen(key, setting))
        };
        keys::all().flat_map(of_key).cloned().collect()
    }

    fn needs_consent(&self, key: &Key, setting: &Setting) -> bool {
        let own = self.overridden.get(&setting.key).unwrap_or(&ConfigValue::Unset);
        let asks = match key.scope {
            KeyScope::Consented => setting.value != *own && setting.value != ConfigValue::List(Vec::new()),
            KeyScope::Raising => key.kind.allows_more(&setting.value, own),
            KeyScope::Anywhere | KeyScope::UserOnly | KeyScope::Lowering(_) => false,
        };
        asks && matches!(setting.origin, Origin::Project { .. })
    }

    /// Whether a setting is known to this process alone: a variable or a flag said it, which another process, such as a
    /// runner that is up, has never seen.
    pub fn is_here_alone(&self, name: &str) -> bool {
        let origin = self.settings.get(name).map(|setting| &setting.origin);
        matches!(origin, Some(Origin::Environment { .. } | Origin::Flag))
    }

    /// Whether it comes from the project's file, and no later layer overrides it.
    pub(crate) fn is_of_project(&self, name: &str) -> bool {
        matches!(self.settings.get(name), Some(Setting { origin: Origin::Project { .. }, .. }))
    }

    /// Where the store is, password included.
    pub fn store(&self) -> &str {
        self.general().store.revealed()
    }

    pub fn agent(&self) -> &str {
        &self.general().agent
    }

    /// How patient one is with a provider that asks to slow down.
    pub fn rate_limits(&self) -> RateLimits {
        let settings = self.rate_limit_settings();
        RateLimits { first: settings.first_pause, longest: settings.longest_pause, retries: settings.retries }
    }

    /// What must be left on this machine before another agent is started.
    pub fn admission(&self) -> AdmissionLimits {
        let &AdmissionSettings { free_memory, memory_pressure, load, free_disk } = self.admission_settings();
        AdmissionLimits {
            free_memory,
            memory_pressure: Some(memory_pressure).filter(|percent| *percent > 0),
            load_percent: Some(load.saturating_mul(100)).filter(|percent| *percent > 0),
            free_disk,
        }
    }

    pub fn caps(&self) -> Caps {
        let cap = |number: u32| Some(number).filter(|number| *number > 0);
        let of_agent =
            |(agent, settings): (&String, &AgentSettings)| Some((agent.clone(), cap(settings.cap?)?));
        Caps {
            total: cap(self.cap_settings().total),
            per_project: cap(self.cap_settings().per_project),
            per_agent: self.sections.agents.iter().filter_map(of_agent).collect(),
        }
    }

    /// What this agent sees of the user's environment, and what is set for it.
    pub fn variables_for(&self, agent: &str) -> AgentVariables {
        let AgentSettings { pass_env, env, .. } = self.agent_settings(agent);
        AgentVariables { pass: pass_env, set: env }
    }

    /// The model that this agent uses unless the task names one.
    pub fn model_for(&self, agent: &str) -> Option<&str> {
        self.sections.agents.get(agent)?.model.as_deref()
    }

    pub fn agent_settings(&self, agent: &str) -> AgentSettings {
        self.sections.agents.get(agent).cloned().unwrap_or_default()
    }

    /// The agents about which anything is set, known or not.
    pub fn named_agents(&self) -> impl Iterator<Item = &str> {
        self.sections.agents.keys().map(String::as_str)
    }

    /// Who may go on with a task of this agent when it cannot, in order; never the agent itself.
    pub fn fallback_for(&self, agent: &str) -> Vec<String> {
        let own = self.sections.agents.get(agent).and_then(|settings| settings.fallback.as_ref());
        own.unwrap_or(&self.general().fallback).iter().filter(|other| *other != agent).cloned().collect()
    }

    /// What is done about each failure, in the words of the configuration.
    pub fn policy(&self) -> BTreeMap<Reason, String> {
        let word = |reason: &Reason| {
            Some((*reason, self.settings.get(&format!("policy.{reason}"))?.value.to_string()))
        };
        Reason::ALL.iter().filter_map(word).collect()
    }
}
