//! Who could take a task that is ready: which runners are up, what they have, and what keeps this place from it.

use std::collections::BTreeSet;

use fleet_core::id::ProjectId;
use fleet_core::task::AgentName;
use fleet_host::machine;
use fleet_store::ops::{Host, ListHosts, ProjectsAt};

use crate::checkouts;
use crate::runner::{self, GONE_AFTER, registry};
use crate::verbs::prelude::*;

/// Why no runner takes a task of this project and agent, in words; nothing if one could.
pub(super) async fn obstacle(engine: &Engine, project: ProjectId, agent: &str) -> Outcome<Option<String>> {
    let takers = takers(engine, project).await?;
    let Some(told) = missing_everywhere(&takers, (project, agent), &machine::name()) else { return Ok(None) };
    let has_project = takers.iter().any(|host| host.projects.contains(&project));
    let refusal = if has_project { None } else { refusal(engine, project).await? };
    Ok(Some(match refusal {
        Some(problem) => format!("{told}: {problem}"),
        None => told,
    }))
}

/// What a person can do here about a project that this place could have.
pub(super) async fn advice(engine: &Engine, project: ProjectId) -> Outcome<Vec<String>> {
    Ok(refusal(engine, project).await?.map(|problem| problem.hints).unwrap_or_default())
}

/// The places with a runner: as they registered, and this one.
async fn takers(engine: &Engine, project: ProjectId) -> Outcome<Vec<Host>> {
    let (place, home) = (engine.place()?, engine.home());
    let since = Millis(clock::now().0.saturating_sub(silence()));
    let mut hosts = engine.call(ListHosts { since }).await?;
    hosts.retain(|host| host.place != place);
    let up = registry::taking_tasks(home)?;
    if !up.is_empty() {
        let is_here = is_known(engine, project).await? && refusal(engine, project).await?.is_none();
        let projects: BTreeSet<ProjectId> = is_here.then_some(project).into_iter().collect();
        hosts.push(Host { place, name: machine::name(), agents: runner::able(engine)?, projects });
    }
    Ok(hosts)
}

fn silence() -> i64 {
    i64::try_from(GONE_AFTER.as_millis()).unwrap_or(i64::MAX)
}

async fn is_known(engine: &Engine, project: ProjectId) -> Outcome<bool> {
    Ok(engine.projects_here().await?.iter().any(|known| known.id == project))
}

/// Why a project that this place has cannot be worked on here.
async fn refusal(engine: &Engine, project: ProjectId) -> Outcome<Option<Problem>> {
    let all = engine.call(ProjectsAt { place: engine.place()? }).await?;
    let at = all.into_iter().find(|at| at.project.id == project && at.is_known);
    let Some(at) = at else { return Ok(None) };
    Ok(checkouts::check(engine, &at).await.err())
}

/// The first thing that all of them lack, in words.
fn missing_everywhere(hosts: &[Host], (project, agent): (ProjectId, &str), here: &str) -> Option<String> {
    let has_agent = |host: &&Host| host.agents.iter().map(AgentName::as_str).any(|name| name == agent);
    if hosts.is_empty() {
        return Some("no runner is up here (`fleet start`)".to_owned());
    }
    let with_project: Vec<&Host> = hosts.iter().filter(|host| host.projects.contains(&project)).collect();
    let names = |hosts: &[&Host]| hosts.iter().map(|host| host.name.as_str()).collect::<Vec<_>>().join(", ");
    match with_project.as_slice() {
        [] => Some("no runner has a checkout of this repository that it may work in".to_owned()),
        [only] if !has_agent(only) && only.name == here => {
            Some(format!("`{agent}` cannot be started here (`fleet agents`)"))
        }
        some if !some.iter().any(has_agent) => {
            Some(format!("no runner that has this repository ({}) has agent `{agent}`", names(some)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use fleet_core::id::IdMaker;
    use fleet_core::time::Millis;

    use super::*;

    #[test]
    fn what_all_runners_lack_is_told() {
        let mut maker = IdMaker::default();
        let (one, two): (ProjectId, ProjectId) = (maker.next(Millis(0), 0), maker.next(Millis(0), 1));
        let host = |name: &str, agents: &[&str], projects: &[ProjectId]| Host {
            place: name.to_owned(),
            name: name.to_owned(),
            agents: agents.iter().map(|agent| agent.parse().unwrap()).collect(),
            projects: projects.iter().copied().collect(),
        };
        let told = |hosts: &[Host], project, agent| {
            missing_everywhere(hosts, (project, agent), "laptop").unwrap_or_default()
        };
        assert!(told(&[], one, "claude").contains("no runner is up"));
        let hosts = [host("laptop", &["claude"], &[one]), host("server", &["codex"], &[one])];
        assert!(told(&hosts, two, "claude").contains("no runner has a checkout of this repository"));
        assert_eq!(told(&hosts, one, "codex"), "", "the server can");
        assert!(told(&hosts, one, "gemini").contains("(laptop, server) has agent `gemini`"));
        assert!(told(&hosts[..1], one, "codex").contains("`codex` cannot be started here"));
        assert!(told(&hosts[1..], one, "claude").contains("(server) has agent `claude`"));
    }
}
