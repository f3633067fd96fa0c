//! The model that an agent is started with.
//!
//! Owns the order: what the task names, else what is set for this very agent, else none, which is the agent's own
//! default. A model is looked up among the agent's aliases and compared with what it may use. Must never give an agent
//! what is set for another one.

use fleet_agents::{Adapter, Registry, vendors};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::text::escaped;

use crate::Engine;
use crate::config::AgentSettings;

/// Why an agent is not told to use a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelRefused {
    /// It is not among those that the agent may use.
    #[error("{agent} may not use `{model}`")]
    NotAllowed {
        agent: String,
        /// The model, with its alias resolved.
        model: String,
        allowed: Vec<String>,
    },
    /// It is certainly a model of another vendor.
    #[error("`{model}` is a model of {vendor}, and {agent} uses those of {provider}")]
    OtherVendor { agent: String, model: String, vendor: &'static str, provider: String },
}

/// Chooses. `provider` is that of the agent, if it is known here.
pub fn model(
    agent: &str,
    settings: &AgentSettings,
    provider: Option<&str>,
    wanted: Option<&str>,
) -> Result<Option<String>, ModelRefused> {
    let Some(named) = wanted.or(settings.model.as_deref()) else { return Ok(None) };
    let alias = settings.aliases.get(named);
    let model = alias.map_or(named, String::as_str).to_owned();
    if !settings.models.is_empty() {
        if settings.models.iter().any(|pattern| vendors::matches(pattern, &model)) {
            return Ok(Some(model));
        }
        let allowed = settings.models.clone();
        return Err(ModelRefused::NotAllowed { agent: agent.to_owned(), model, allowed });
    }
    // A user who gave it a short name for this agent knows that the agent accepts it.
    let Some(provider) = provider.filter(|_| alias.is_none()) else { return Ok(Some(model)) };
    match vendors::other_vendor(provider, &model) {
        None => Ok(Some(model)),
        Some(vendor) => {
            let (agent, provider) = (agent.to_owned(), provider.to_owned());
            Err(ModelRefused::OtherVendor { agent, model, vendor, provider })
        }
    }
}

/// Refuses a model that the agent of a task could not be told to use. Without an agent it is the configured one.
pub fn check(engine: &Engine, agent: Option<&str>, wanted: Option<&str>) -> Outcome<()> {
    let agent = agent.unwrap_or(engine.config()?.agent());
    match wanted {
        None => Ok(()),
        Some(_) => chosen(engine, agent, wanted).map(drop),
    }
}

/// The model that this agent gets for a task that wants this one.
pub(super) fn chosen(engine: &Engine, agent: &str, wanted: Option<&str>) -> Outcome<Option<String>> {
    let (config, agents) = (engine.config()?, engine.agents()?);
    let provider = agents.find(agent).map(|adapter| adapter.about().provider);
    model(agent, &config.agent_settings(agent), provider.as_deref(), wanted)
        .map_err(|refused| problem(&refused, &agents))
}

fn problem(refused: &ModelRefused, agents: &Registry) -> Problem {
    let field = Problem::field("model", escaped(&refused.to_string()));
    let problem = Problem { code: Code::ModelRefused, ..field };
    match refused {
        ModelRefused::NotAllowed { agent, allowed, .. } => problem
            .hint(format!("it may use {}", allowed.join(", ")))
            .hint(format!("`fleet config get agents.{agent}.models --show-origin` shows where it is set")),
        ModelRefused::OtherVendor { agent, model, vendor, .. } => {
            let theirs = agents.all().filter(|adapter| adapter.about().provider == *vendor);
            let other = theirs.map(Adapter::name).next();
            let other = other.map(|other| format!("the agent `{other}` uses models of {vendor}"));
            problem.hints(other).hint(format!(
                "if {agent} can use it here: `fleet config set agents.{agent}.models \"{}\"` lists what it may use",
                escaped(model)
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(model: Option<&str>, models: &[&str], aliases: &[(&str, &str)]) -> AgentSettings {
        AgentSettings {
            model: model.map(ToOwned::to_owned),
            models: models.iter().map(|&model| model.to_owned()).collect(),
            aliases: aliases.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect(),
            ..AgentSettings::default()
        }
    }

    fn codex(settings: &AgentSettings, wanted: Option<&str>) -> Result<Option<String>, String> {
        model("codex", settings, Some("openai"), wanted).map_err(|refused| refused.to_string())
    }

    #[test]
    fn the_task_comes_before_the_agents_default_and_none_is_none() {
        let set = settings(Some("gpt-5"), &[], &[]);
        assert_eq!(codex(&set, Some("gpt-5-mini")), Ok(Some("gpt-5-mini".into())));
        assert_eq!(codex(&set, None), Ok(Some("gpt-5".into())));
        assert_eq!(codex(&settings(None, &[], &[]), None), Ok(None));
    }

    #[test]
    fn short_names_are_of_one_agent() {
        let set = settings(Some("fast"), &[], &[("fast", "gpt-5-mini"), ("odd", "claude-by-proxy")]);
        assert_eq!(codex(&set, None), Ok(Some("gpt-5-mini".into())));
        assert_eq!(codex(&set, Some("odd")), Ok(Some("claude-by-proxy".into())), "it was named on purpose");
        assert_eq!(codex(&settings(None, &[], &[]), Some("fast")), Ok(Some("fast".into())));
    }

    #[test]
    fn what_is_listed_is_allowed_and_nothing_else() {
        let set = settings(Some("o3"), &["gpt-5*", "claude-x"], &[("fast", "gpt-5-mini"), ("old", "gpt-4")]);
        assert_eq!(codex(&set, Some("gpt-5-pro")), Ok(Some("gpt-5-pro".into())));
        assert_eq!(codex(&set, Some("fast")), Ok(Some("gpt-5-mini".into())));
        assert_eq!(codex(&set, Some("claude-x")), Ok(Some("claude-x".into())), "the user has a gateway");
        assert_eq!(codex(&set, Some("old")), Err("codex may not use `gpt-4`".into()));
        assert_eq!(codex(&set, None), Err("codex may not use `o3`".into()), "defaults, too");
    }

    #[test]
    fn models_of_other_vendors_are_refused_where_the_vendor_is_known() {
        let none = settings(None, &[], &[]);
        let words = "`claude-opus-4-5` is a model of anthropic, and codex uses those of openai";
        assert_eq!(codex(&none, Some("claude-opus-4-5")), Err(words.into()));
        for (provider, model_name) in
            [(Some("opencode"), "claude-opus-4-5"), (None, "gpt-5"), (Some("openai"), "mine")]
        {
            let chosen = model("x", &none, provider, Some(model_name));
            assert_eq!(chosen, Ok(Some(model_name.to_owned())), "{provider:?}");
        }
    }
}
