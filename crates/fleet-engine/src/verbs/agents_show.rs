//! Everything about one agent.

use fleet_agents::{Enforced, Trust};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::text::escaped;
use serde::Serialize;

use super::agents_list::{AgentView, views};
use crate::Engine;

/// An agent with all that there is to know about it.
#[derive(Debug, Clone, Serialize)]
pub struct Response {
    /// As lists show it.
    #[serde(flatten)]
    pub agent: AgentView,
    /// What each trust means for it, from the least to the most.
    pub trust_levels: Vec<TrustLevel>,
    /// How hard the model should think.
    pub effort: Option<String>,
    /// Arguments of the user.
    pub args: Vec<String>,
    /// Whether there are standing orders.
    pub system_prompt: bool,
    /// The file with tool servers.
    pub mcp: Option<String>,
    /// Whether its last answer is held to a schema.
    pub structured: bool,
    /// How many tokens its model can hold, as far as the user says so.
    pub context_limit: Option<u64>,
    /// Who may go on with its tasks.
    pub fallback: Vec<String>,
    /// How to get it.
    pub install: String,
    /// How to log in.
    pub login_help: String,
}

/// One trust, in words.
#[derive(Debug, Clone, Serialize)]
pub struct TrustLevel {
    /// The word for the configuration.
    pub trust: &'static str,
    /// What it means for this agent.
    pub means: &'static str,
    /// What keeps it to that: `none`, `tools` or `sandbox`.
    pub enforced: &'static str,
    /// Whether it is in force.
    pub chosen: bool,
}

/// Looks at it.
pub async fn run(engine: &Engine, name: &str) -> Outcome<Response> {
    let about = find(engine, name)?.about();
    let settings = engine.config()?.agent_settings(name);
    let agent = views(engine, vec![(name.to_owned(), about.clone())]).await?.pop();
    let agent = agent.ok_or_else(|| Problem::new(Code::Internal, "an agent was lost on the way"))?;
    let levels = Trust::WORDS.iter().zip(about.trust).zip(about.enforced);
    let level = |((trust, means), enforced): ((&&'static str, _), Enforced)| TrustLevel {
        trust,
        means,
        enforced: enforced.as_str(),
        chosen: *trust == agent.trust,
    };
    Ok(Response {
        trust_levels: levels.map(level).collect(),
        agent,
        effort: settings.effort,
        args: settings.args,
        system_prompt: settings.system_prompt.is_some(),
        mcp: settings.mcp,
        structured: settings.structured.unwrap_or(false),
        context_limit: settings.own.context_limit,
        fallback: engine.config()?.fallback_for(name),
        install: about.install.into_owned(),
        login_help: about.login.into_owned(),
    })
}

/// The agent of this name.
pub(super) fn find(engine: &Engine, name: &str) -> Outcome<std::sync::Arc<dyn fleet_agents::Adapter>> {
    let agents = engine.agents()?;
    agents.get(name).ok_or_else(|| {
        let names: Vec<String> = agents.all().map(|adapter| format!("`{}`", adapter.name())).collect();
        Problem::new(Code::AgentMissing, format!("codefleet knows no agent {:?}", escaped(name)))
            .hint(format!("there are {}", names.join(", ")))
            .hint("an agent of your own needs `agents.NAME.program`, see docs/agents.md")
    })
}
