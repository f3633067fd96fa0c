//! Which tasks could be started here, and what those lack that could not.
//!
//! Only looks: a repository that a runner would join is not joined.

use std::collections::{BTreeMap, BTreeSet};

use fleet_core::id::ProjectId;
use fleet_core::problem::{Outcome, Problem};
use fleet_core::task::AgentName;
use fleet_store::ops::{ProjectAt, ProjectsAt, UpcomingTasks};

use super::can_start;
use super::offer::could_join;
use crate::{Engine, checkouts};

/// What a task needs to be started: its repository and its agent; `None` is the configured default.
pub(crate) type Needs<'a> = (ProjectId, Option<&'a AgentName>);

pub(crate) const fn needs(tasks: &UpcomingTasks) -> Needs<'_> {
    (tasks.project, tasks.agent.as_ref())
}

/// What this place has, as far as some tasks need it.
pub(crate) struct Startable {
    default: String,
    /// Agents that were looked for and are not here.
    missing: BTreeSet<String>,
    here: BTreeSet<ProjectId>,
    /// Why repositories that this place had cannot be worked on.
    pub(crate) refused: BTreeMap<String, Problem>,
}

impl Startable {
    /// Looks for what tasks need.
    pub(crate) async fn look<'a>(
        engine: &Engine,
        needs: impl Iterator<Item = Needs<'a>> + Clone,
    ) -> Outcome<Self> {
        let default = engine.config()?.agent().to_owned();
        let (missing, here, refused) = (BTreeSet::new(), BTreeSet::new(), BTreeMap::new());
        let mut look = Self { default, missing, here, refused };
        let wanted: BTreeSet<ProjectId> = needs.clone().map(|(project, _)| project).collect();
        if wanted.is_empty() {
            return Ok(look);
        }
        for agent in needs.map(|(_, agent)| agent).collect::<BTreeSet<_>>() {
            let name = look.name(agent).to_owned();
            if !can_start(engine, &name)? {
                look.missing.insert(name);
            }
        }
        let all = engine.call(ProjectsAt { place: engine.place()? }).await?;
        for at in all.iter().filter(|at| wanted.contains(&at.project.id)) {
            look.look_at(engine, at).await;
        }
        Ok(look)
    }

    async fn look_at(&mut self, engine: &Engine, at: &ProjectAt) {
        let id = at.project.id;
        if !at.is_known {
            // One that only others have is nothing that is missing here.
            self.here.extend(could_join(engine, at).await.then_some(id));
            return;
        }
        match checkouts::check(engine, at).await {
            Ok(()) => drop(self.here.insert(id)),
            Err(problem) => drop(self.refused.insert(at.project.common_dir.clone(), problem)),
        }
    }

    /// Whether a runner here would start a task that needs this.
    pub(crate) fn has(&self, (project, agent): Needs<'_>) -> bool {
        self.here.contains(&project) && self.missing_agent(agent).is_none()
    }

    /// The agent that a task needs, if that cannot be started here.
    pub(crate) fn missing_agent(&self, agent: Option<&AgentName>) -> Option<&str> {
        self.missing.get(self.name(agent)).map(String::as_str)
    }

    fn name<'a>(&'a self, agent: Option<&'a AgentName>) -> &'a str {
        agent.map_or(self.default.as_str(), AgentName::as_str)
    }
}
