//! Queued tasks whose agent is paused: where they are, and which agent takes over.

use std::collections::BTreeMap;

use fleet_core::id::ProjectId;
use fleet_core::project::Project;
use fleet_core::run::Reason;
use fleet_core::task::{AgentName, Task, TaskState};

use super::pauses;
use super::projects::{project, project_columns};
use super::rows::{about, lock_task, record, write_agent};
use super::runs::FailureSettings;
use crate::ops::prelude::*;

/// Where ready tasks wait for an agent whose account a provider paused. Tasks of an account that a person paused just
/// wait.
#[derive(Debug, Clone)]
pub struct WaitingWork {
    /// The place whose checkouts count.
    pub place: String,
    /// The agent of tasks that name none.
    pub default_agent: AgentName,
    /// The accounts of agents; one that is not among them goes by the agent's name.
    pub accounts: BTreeMap<AgentName, String>,
    pub now: Millis,
}

/// Tasks of one project that wait for one agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingTasks {
    pub project: Project,
    pub agent: AgentName,
    pub reason: Reason,
}

#[async_trait]
impl Op for WaitingWork {
    type Out = Vec<WaitingTasks>;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Vec<WaitingTasks>, StoreError> {
        let refused = sql!(
            "SELECT p.account, r.reason FROM pauses p JOIN runs r ON r.id = p.run \
             WHERE p.until > $1 AND r.reason IS NOT NULL ORDER BY p.account",
            self.now,
        );
        let mut waiting = Vec::new();
        for mut row in tx.query(refused).await? {
            let (account, reason): (_, Reason) = (row.text()?, row.parse()?);
            for agent in self.agents_of(&account) {
                let projects = self.projects_of(tx, &agent).await?;
                waiting.extend(projects.into_iter().map(|project| WaitingTasks {
                    project,
                    agent: agent.clone(),
                    reason,
                }));
            }
        }
        Ok(waiting)
    }
}

impl WaitingWork {
    fn agents_of(&self, account: &str) -> Vec<AgentName> {
        let known = self.accounts.iter().filter(|(_, name)| *name == account).map(|(agent, _)| agent.clone());
        // An agent without a named account has one of its own name.
        let own = account.parse().ok().filter(|agent| !self.accounts.contains_key(agent));
        known.chain(own).collect()
    }

    /// The projects with ready tasks of an agent: a walk from one to the next along the index.
    async fn projects_of(&self, tx: &mut dyn Tx, agent: &AgentName) -> Result<Vec<Project>, StoreError> {
        let mut found: Vec<Project> = Vec::new();
        for name in stored_names(agent, &self.default_agent) {
            let mut last = String::new();
            loop {
                let next = sql!(
                    concat!(
                        "SELECT ",
                        project_columns!("$3"),
                        " FROM projects p WHERE p.id = (SELECT project FROM tasks \
                         WHERE status = 'ready' AND agent = $1 AND project > $2 ORDER BY project LIMIT 1)"
                    ),
                    name,
                    last.as_str(),
                    self.place.as_str(),
                );
                let Some(row) = tx.query_one(next).await? else { break };
                let next = project(row)?;
                last = next.id.to_string();
                if found.iter().all(|known| known.id != next.id) {
                    found.push(next);
                }
            }
        }
        Ok(found)
    }
}

/// As tasks name an agent; those that name none have the default.
fn stored_names<'a>(agent: &'a AgentName, default: &AgentName) -> impl Iterator<Item = &'a str> {
    [agent.as_str()].into_iter().chain((agent == default).then_some(""))
}

/// Hands ready tasks of a project over to agents that are free, instead of the one that is paused. A person who wants a
/// terminal wants that agent.
#[derive(Debug, Clone)]
pub struct HandOverWaiting {
    pub project: ProjectId,
    pub agent: AgentName,
    pub reason: Reason,
    pub after: FailureSettings,
    /// At most this many tasks: the rest may still be done by the agent that their authors wanted.
    pub most: usize,
    pub now: Millis,
}

#[async_trait]
impl Op for HandOverWaiting {
    /// How many were handed over.
    type Out = usize;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<usize, StoreError> {
        let paused = pauses::pause_ends(tx, self.now).await?;
        let mut count = 0;
        if !paused.contains_key(self.after.account(&self.agent)) {
            return Ok(count);
        }
        for id in self.best(tx).await? {
            let mut task = lock_task(tx, id).await?;
            if !self.is_about(&task) {
                continue;
            }
            let account = self.after.account(&self.agent);
            let next = self.after.successor_for(&task, (&self.agent, account), &paused);
            let Some(to) = next.filter(|to| !paused.contains_key(self.after.account(to))) else { continue };
            self.hand_over(tx, &mut task, to).await?;
            count += 1;
        }
        Ok(count)
    }
}

impl HandOverWaiting {
    async fn best(&self, tx: &mut dyn Tx) -> Result<Vec<TaskId>, StoreError> {
        let default = self.after.default_agent.as_ref().unwrap_or(&self.agent);
        let mut ids = Vec::new();
        for name in stored_names(&self.agent, default) {
            let left = self.most.saturating_sub(ids.len());
            let best = sql!(
                "SELECT id FROM tasks WHERE status = 'ready' AND agent = $1 AND project = $2 AND interactive = 0 \
                 ORDER BY priority DESC, id LIMIT $3 {skip_locked}",
                name,
                self.project,
                i64::try_from(left).unwrap_or(i64::MAX),
            );
            for mut row in tx.query(best).await? {
                ids.push(row.parse()?);
            }
        }
        Ok(ids)
    }

    /// Whether the task still waits for that agent.
    fn is_about(&self, task: &Task) -> bool {
        let agent = task.agent().or(self.after.default_agent.as_ref());
        task.state() == TaskState::Queued && agent == Some(&self.agent)
    }

    async fn hand_over(&self, tx: &mut dyn Tx, task: &mut Task, to: AgentName) -> Result<(), StoreError> {
        let (from, reason) = (self.agent.to_string(), self.reason);
        let fact = Fact::TaskHandedOver { from, to: to.to_string(), reason };
        self.after.give(task, to);
        write_agent(tx, task).await?;
        let changed =
            sql!("UPDATE tasks SET version = version + 1, updated_at = $2 WHERE id = $1", task.id, self.now);
        tx.defer(changed).await?;
        record(tx, self.now, about(task), &fact).await
    }
}
