//! Pauses of the queue, as people see them.

use fleet_api::views::QueuePauseView;
use fleet_core::schedule::PauseScope;

use super::prelude::*;
use super::{agents_show, lineage};

/// What a request names: an agent, which must exist, and the project of the directory.
pub(super) async fn scope(engine: &Engine, agent: Option<&str>, this_project: bool) -> Outcome<PauseScope> {
    if let Some(agent) = agent {
        agents_show::find(engine, agent)?;
    }
    let project = if this_project { Some(engine.project().await?.id) } else { None };
    Ok(PauseScope { project, agent: agent.map(str::parse).transpose().map_err(problems::field)? })
}

pub(super) async fn all(engine: &Engine) -> Outcome<Vec<QueuePauseView>> {
    let pauses = engine.call(ops::ListQueuePauses).await?;
    let names = if pauses.iter().any(|pause| pause.scope.project.is_some()) {
        engine.projects().await?
    } else {
        Vec::new()
    };
    let name = |scope: &PauseScope| {
        let id = scope.project?;
        let known = names.iter().find(|project| project.id == id);
        Some(known.map_or_else(|| id.to_string(), |project| project.name.clone()))
    };
    let view = |pause: ops::QueuePause| QueuePauseView {
        project: pause.scope.project,
        project_name: name(&pause.scope),
        agent: pause.scope.agent.as_ref().map(ToString::to_string),
        why: pause.why,
        since: Moment(pause.set_at),
    };
    Ok(pauses.into_iter().map(view).collect())
}

/// Those that the caller may see: what goes on in other repositories is nothing to an agent.
pub(super) async fn shown(engine: &Engine) -> Outcome<Vec<QueuePauseView>> {
    let own = lineage::own_project(engine)?.map(|project| project.id);
    let is_shown = |pause: &QueuePauseView| own.is_none() || pause.project.is_none() || pause.project == own;
    Ok(all(engine).await?.into_iter().filter(is_shown).collect())
}

/// The pause that keeps a task from starting.
pub(super) async fn of_task(
    engine: &Engine,
    project: fleet_core::id::ProjectId,
    agent: &str,
) -> Outcome<Option<QueuePauseView>> {
    let covers = |pause: &QueuePauseView| {
        pause.project.is_none_or(|own| own == project) && pause.agent.as_ref().is_none_or(|own| own == agent)
    };
    Ok(all(engine).await?.into_iter().find(covers))
}
