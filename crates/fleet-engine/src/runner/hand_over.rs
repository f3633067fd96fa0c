//! Work that waits for an agent whose account is paused goes to agents that may take over.

use std::collections::BTreeSet;

use fleet_core::id::ProjectId;
use fleet_core::policy::FailureAction;
use fleet_core::problem::Outcome;
use fleet_store::ops;

use crate::{Engine, agents, clock, keeper, problems};

/// Hands over at most this many tasks of projects that are here, where the configuration of their project wants that;
/// says how many. `engine` has the settings of the runner.
pub(super) async fn hand_over(
    engine: &Engine,
    projects: &BTreeSet<ProjectId>,
    most: usize,
) -> Outcome<usize> {
    let default_agent = engine.config()?.agent().parse().map_err(problems::field)?;
    let (place, accounts, now) = (engine.place()?, agents::accounts(engine)?, clock::now());
    let mut count = 0;
    let mut all = engine.call(ops::WaitingWork { place, default_agent, accounts, now }).await?;
    all.retain(|waiting| projects.contains(&waiting.project.id));
    for waiting in all {
        // A repository that is gone, or whose settings are broken, has no wishes.
        let here = engine.at(keeper::checkout(&waiting.project));
        let Ok(after) = here.and_then(|here| agents::after(&here, waiting.agent.as_str())) else { continue };
        if after.policy.action(waiting.reason) != FailureAction::HandOver || after.fallback.is_empty() {
            continue;
        }
        let (project, agent, reason) = (waiting.project.id, waiting.agent, waiting.reason);
        let most = most.saturating_sub(count);
        count += engine.call(ops::HandOverWaiting { project, agent, reason, after, most, now }).await?;
    }
    Ok(count)
}
