use std::collections::BTreeMap;

use fleet_agents::{About, Adapter, Program};
use fleet_api::verbs::agents_list::{AgentView, Answer, Request};

use super::doctor;
use super::prelude::*;
use crate::agents::{self, Installed};

pub(crate) async fn run(engine: &Engine, _: Request) -> Outcome<Answer> {
    let registry = engine.agents()?;
    let all: Vec<(String, About)> =
        registry.all().map(|adapter| (adapter.name().to_owned(), Adapter::about(adapter))).collect();
    Ok(Answer { agents: views(engine, all).await? })
}

pub(super) async fn views(engine: &Engine, all: Vec<(String, About)>) -> Outcome<Vec<AgentView>> {
    let installed = agents::look(engine, &all).await;
    let pauses = pauses(engine).await?;
    let view = |((name, about), installed): ((String, About), Option<Installed>)| {
        let view = view(engine, &name, about, installed)?;
        let pause = pauses.get(&view.account);
        Ok(AgentView {
            paused_until: pause.map(|pause| Moment(pause.until)),
            pause_reason: pause.map(|pause| pause.why.clone()),
            ..view
        })
    };
    all.into_iter().zip(installed).map(view).collect()
}

fn view(engine: &Engine, name: &str, about: About, installed: Option<Installed>) -> Outcome<AgentView> {
    let config = engine.config()?;
    let settings = config.agent_settings(name);
    let login = agents::login(engine, name, &about)?;
    let trust = agents::trust(config, name);
    let enforced = about.enforced(trust).as_str().to_owned();
    let (path, version) = match installed {
        Some(Installed { path, version }) => (Some(path.display().to_string()), Some(version)),
        None => (None, None),
    };
    let (version, version_problem) = match version {
        Some(Ok(version)) => (Some(version), None),
        Some(Err(why)) => (None, Some(why)),
        None => (None, None),
    };
    Ok(AgentView {
        name: name.to_owned(),
        title: about.title.into_owned(),
        is_default: name == config.agent(),
        program: match about.program {
            Program::This => None,
            Program::OnPath(program) => Some(program.into_owned()),
        },
        path,
        version,
        version_problem,
        login,
        model: settings.model,
        models: settings.models,
        aliases: settings.aliases,
        trust: trust.as_str().to_owned(),
        enforced,
        cap: config.caps().per_agent.get(name).copied(),
        account: agents::account(engine, name)?,
        paused_until: None,
        pause_reason: None,
        takes_prompts: about.takes_prompts,
    })
}

/// Which accounts take no work, if there is a store to ask: looking must not make one.
async fn pauses(engine: &Engine) -> Outcome<BTreeMap<String, ops::Pause>> {
    if !doctor::is_there(engine) {
        return Ok(BTreeMap::new());
    }
    let pauses = engine.call(ops::ListPauses { now: engine.time().await? }).await?;
    Ok(pauses.into_iter().map(|pause| (pause.account.clone(), pause)).collect())
}
