use fleet_agents::{Enforced, Trust};
use fleet_api::verbs::agents_show::{Answer, Request, TrustLevel};
use fleet_core::text::escaped;

use super::agents_list::views;
use super::prelude::*;

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let name = request.agent;
    let about = find(engine, &name)?.about();
    let settings = engine.config()?.agent_settings(&name);
    let agent = views(engine, vec![(name.clone(), about.clone())]).await?.pop();
    let agent = agent
        .ok_or_else(|| Problem::new(Code::Internal, "internal: the agent is missing from the answer"))?;
    let levels = Trust::WORDS.iter().zip(about.trust).zip(about.enforced);
    let level = |((trust, means), enforced): ((&&'static str, &'static str), Enforced)| TrustLevel {
        trust: (*trust).to_owned(),
        means: means.to_owned(),
        enforced: enforced.as_str().to_owned(),
        chosen: *trust == agent.trust,
    };
    Ok(Answer {
        trust_levels: levels.map(level).collect(),
        agent,
        effort: settings.effort,
        args: settings.args,
        system_prompt: settings.system_prompt.is_some(),
        mcp: settings.mcp,
        structured: settings.structured.unwrap_or(false),
        context_limit: settings.context_limit,
        fallback: engine.config()?.fallback_for(&name),
        install: about.install.into_owned(),
        login_help: about.login.into_owned(),
    })
}

pub(super) fn find(engine: &Engine, name: &str) -> Outcome<std::sync::Arc<dyn fleet_agents::Adapter>> {
    let agents = engine.agents()?;
    agents.get(name).ok_or_else(|| {
        let names: Vec<String> = agents.all().map(|adapter| format!("`{}`", adapter.name())).collect();
        Problem::new(Code::AgentMissing, format!("unknown agent {:?}", escaped(name)))
            .hint(format!("there are {}", names.join(", ")))
            .hint("an agent of your own needs `agents.NAME.program`, see docs/agents.md")
    })
}
