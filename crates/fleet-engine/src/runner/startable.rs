//! Which tasks could be started here, and what those lack that could not.
//!
//! Only looks: a repository that a runner would join is not joined.

use std::collections::{BTreeMap, BTreeSet};

use fleet_core::id::ProjectId;
use fleet_core::problem::{Outcome, Problem};
use fleet_core::task::{AgentName, Status, Task};
use fleet_store::ops::{ListTasks, ProjectAt, ProjectsAt, StatusFilter, TaskFilter, TaskPage};

use super::able;
use super::offer::could_join;
use crate::{Engine, checkouts, clock};

/// At most `limit` tasks that need nothing but a runner: those that are ready, then those that will be when their time has
/// come.
pub(crate) async fn upcoming(engine: &Engine, limit: i64) -> Outcome<TaskPage> {
    let statuses = StatusFilter(vec![Status::Ready, Status::Scheduled]);
    let filter = TaskFilter::default();
    engine.call(ListTasks { statuses, filter, limit, now: clock::now() }).await
}

/// What this place has, as far as some tasks need it.
pub(crate) struct Startable {
    default: String,
    agents: BTreeSet<AgentName>,
    here: BTreeSet<ProjectId>,
    /// Why repositories that this place had cannot be worked on.
    pub(crate) refused: BTreeMap<String, Problem>,
}

impl Startable {
    /// Looks at the agents, and at the repositories of the tasks.
    pub(crate) async fn look(engine: &Engine, tasks: &[Task]) -> Outcome<Self> {
        let default = engine.config()?.agent().to_owned();
        let mut look =
            Self { default, agents: able(engine)?, here: BTreeSet::new(), refused: BTreeMap::new() };
        let wanted: BTreeSet<ProjectId> = tasks.iter().map(|task| task.project).collect();
        if wanted.is_empty() {
            return Ok(look);
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

    /// Whether a runner here would start it.
    pub(crate) fn has(&self, task: &Task) -> bool {
        self.here.contains(&task.project) && self.missing_agent(task).is_none()
    }

    /// The agent that it needs, if that cannot be started here.
    pub(crate) fn missing_agent<'a>(&'a self, task: &'a Task) -> Option<&'a str> {
        let name = task.agent().map_or(self.default.as_str(), AgentName::as_str);
        (!self.agents.iter().any(|agent| agent.as_str() == name)).then_some(name)
    }
}
