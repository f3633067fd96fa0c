//! Which ready tasks start next: caps, pauses and file scopes, decided one candidate at a time.

use std::collections::{BTreeMap, BTreeSet};

use crate::id::{ProjectId, TaskId};
use crate::scope::FileScope;
use crate::task::TaskState;
use crate::time::Millis;

/// How many tasks may run at once; `None` is no bound.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Caps {
    /// In the whole store.
    pub total: Option<u32>,
    /// In each project.
    pub per_project: Option<u32>,
    /// By agent name.
    pub per_agent: BTreeMap<String, u32>,
}

impl Caps {
    /// Whether nothing is bounded.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A ready task, as far as the choice is concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The task.
    pub task: TaskId,
    /// Its project.
    pub project: ProjectId,
    /// Its agent, the default filled in.
    pub agent: String,
    /// The files it will touch.
    pub scope: FileScope,
}

/// What already runs, and which agents take no work now.
#[derive(Debug, Clone, Default)]
pub struct Load {
    /// Running tasks in the whole store.
    pub total: u32,
    /// Running tasks by project.
    pub per_project: BTreeMap<ProjectId, u32>,
    /// Running tasks by agent.
    pub per_agent: BTreeMap<String, u32>,
    /// The scopes of running tasks by project.
    pub scopes: BTreeMap<ProjectId, Vec<FileScope>>,
    /// Agents that are paused.
    pub paused: BTreeSet<String>,
}

/// Why a ready task does not start now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Enough tasks run.
    TotalCap,
    /// Enough tasks of its project run.
    ProjectCap,
    /// Enough tasks of its agent run.
    AgentCap,
    /// Its agent is paused.
    AgentPaused,
    /// A running task touches the same files.
    ScopeOverlap,
}

impl Load {
    /// Whether any task of this project and agent could start, scopes aside.
    pub fn lane(&self, project: ProjectId, agent: &str, caps: &Caps) -> Result<(), Refusal> {
        let full = |running: Option<&u32>, cap: Option<u32>| {
            cap.is_some_and(|cap| running.copied().unwrap_or(0) >= cap)
        };
        if self.paused.contains(agent) {
            return Err(Refusal::AgentPaused);
        }
        if full(Some(&self.total), caps.total) {
            return Err(Refusal::TotalCap);
        }
        if full(self.per_project.get(&project), caps.per_project) {
            return Err(Refusal::ProjectCap);
        }
        if full(self.per_agent.get(agent), caps.per_agent.get(agent).copied()) {
            return Err(Refusal::AgentCap);
        }
        Ok(())
    }

    /// Starts `candidate` if nothing stands in its way: from then on it is part of the load.
    pub fn admit(&mut self, candidate: &Candidate, caps: &Caps) -> Result<(), Refusal> {
        self.lane(candidate.project, &candidate.agent, caps)?;
        let scopes = self.scopes.entry(candidate.project).or_default();
        if scopes.iter().any(|running| running.overlaps(&candidate.scope)) {
            return Err(Refusal::ScopeOverlap);
        }
        if !candidate.scope.is_empty() {
            scopes.push(candidate.scope.clone());
        }
        self.total += 1;
        *self.per_project.entry(candidate.project).or_default() += 1;
        *self.per_agent.entry(candidate.agent.clone()).or_default() += 1;
        Ok(())
    }
}

/// One task as the definition of "ready" sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    /// The task.
    pub task: TaskId,
    /// Where it stands.
    pub state: TaskState,
    /// 5 first.
    pub priority: i64,
    /// Not before this.
    pub not_before: Option<Millis>,
}

/// The ready set by its definition, in the order in which it is served: queued, due, every dependency done.
/// The store keeps counters instead; its tests compare the two.
pub fn ready(tasks: &[Waiting], edges: &[crate::deps::Edge], now: Millis) -> Vec<TaskId> {
    let done: BTreeSet<TaskId> =
        tasks.iter().filter(|task| task.state == TaskState::Done).map(|task| task.task).collect();
    let mut ready: Vec<&Waiting> = tasks
        .iter()
        .filter(|task| task.state == TaskState::Queued)
        .filter(|task| task.not_before.is_none_or(|at| at <= now))
        .filter(|task| edges.iter().filter(|edge| edge.task == task.task).all(|edge| done.contains(&edge.on)))
        .collect();
    ready.sort_by_key(|task| (std::cmp::Reverse(task.priority), task.task));
    ready.into_iter().map(|task| task.task).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::IdMaker;

    fn candidate(maker: &mut IdMaker, project: ProjectId, agent: &str, scope: &[&str]) -> Candidate {
        Candidate {
            task: maker.next(Millis(0), 0),
            project,
            agent: agent.to_owned(),
            scope: FileScope::parse(scope).unwrap(),
        }
    }

    #[test]
    fn every_bound_is_kept_and_named() {
        let mut maker = IdMaker::default();
        let (one, two): (ProjectId, ProjectId) = (maker.next(Millis(0), 1), maker.next(Millis(0), 1));
        let caps = Caps {
            total: Some(4),
            per_project: Some(2),
            per_agent: BTreeMap::from([("codex".to_owned(), 1)]),
        };
        let mut load = Load { paused: BTreeSet::from(["gemini".to_owned()]), ..Load::default() };
        let mut admit =
            |project, agent, scope: &[&str]| load.admit(&candidate(&mut maker, project, agent, scope), &caps);
        assert_eq!(admit(one, "codex", &["src/**"]), Ok(()));
        assert_eq!(admit(two, "codex", &[]), Err(Refusal::AgentCap));
        assert_eq!(admit(two, "gemini", &[]), Err(Refusal::AgentPaused));
        assert_eq!(admit(one, "claude", &["src/a.rs"]), Err(Refusal::ScopeOverlap));
        assert_eq!(admit(two, "claude", &["src/a.rs"]), Ok(()), "scopes of two projects never meet");
        assert_eq!(admit(one, "claude", &["docs"]), Ok(()));
        assert_eq!(admit(one, "claude", &[]), Err(Refusal::ProjectCap));
        assert_eq!(admit(two, "claude", &[]), Ok(()));
        assert_eq!(admit(two, "claude", &[]), Err(Refusal::TotalCap));
    }
}
