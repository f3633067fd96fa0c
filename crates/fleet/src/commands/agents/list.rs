use clap::Args;
use fleet_api::verbs::agents_list::{AgentView, LoginState, Request};
use fleet_core::time::Millis;

use super::super::Context;
use crate::Done;
use crate::output::{columns, dim, table, until};

/// List the agents: installed or not, version, login, model, trust, limits
#[derive(Debug, Args)]
#[command(display_order = 10)]
pub(crate) struct List {}

impl List {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let Self {} = self;
        let found = context.call(Request::default()).await?;
        context.output.show(&found, || render(&found.agents, context.engine.now()))?;
        if let Some(default) = found.agents.iter().find(|agent| agent.is_default) {
            let name = &default.name;
            let text = format!("default: {name}; `fleet agents show NAME` shows details");
            context.output.note(&dim(&text));
        }
        Ok(())
    }
}

fn render(agents: &[AgentView], now: Millis) -> String {
    let column = columns(agents);
    table(vec![
        column("AGENT", &|agent| agent.name.clone()),
        column("VERSION", &version),
        column("LOGIN", &|agent| login(agent).to_owned()),
        column("MODEL", &|agent| agent.model.clone().unwrap_or_default()),
        column("TRUST", &|agent| agent.trust.clone()),
        column("ENFORCED", &|agent| agent.enforced.clone()),
        column("LIMITS", &|agent| held_back(agent, now)),
        column("ACCOUNT", &|agent| agent.account.clone()).optional(),
        column("PROMPTS", &|agent| if agent.takes_prompts { "while it works" } else { "" }.to_owned())
            .optional(),
        column("PATH", &|agent| agent.path.clone().unwrap_or_default()).painted(dim).giving_way().optional(),
    ])
}

/// What there is to say about the version, also when there is none.
pub(super) fn version(agent: &AgentView) -> String {
    match &agent.version {
        Some(version) => version.clone(),
        None if agent.is_installed() => "unknown".to_owned(),
        None => "not installed".to_owned(),
    }
}

pub(super) fn login(agent: &AgentView) -> &'static str {
    match agent.login.state {
        LoginState::Yes => "yes",
        LoginState::NoSign => "not detected",
        LoginState::NotNeeded => "not needed",
        LoginState::Unknown => "unknown",
    }
}

/// What holds it back, and why.
pub(super) fn limits(agent: &AgentView, now: Millis) -> String {
    let why = agent.pause_reason.as_deref().filter(|_| agent.paused_until.is_some());
    format!("{}{}", held_back(agent, now), why.map(|why| format!(": {why}")).unwrap_or_default())
}

/// What holds it back. In a table of all agents the words of a provider would push everything else out.
fn held_back(agent: &AgentView, now: Millis) -> String {
    let cap = agent.cap.map(|cap| format!("{cap} at a time"));
    let pause = agent.paused_until.map(|at| format!("paused, continues {}", until(at.0, now)));
    cap.into_iter().chain(pause).collect::<Vec<_>>().join(", ")
}
