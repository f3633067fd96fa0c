//! Which ready tasks start next: caps, pauses, file scopes and budgets, decided one candidate at a time.

mod queue_pause;

use std::collections::{BTreeMap, BTreeSet};

pub use queue_pause::{PauseScope, QUEUE_PREFIX};

use crate::budget::{Bounds, RemainingBudget};
use crate::id::{ProjectId, TaskId};
use crate::limits::Limits;
use crate::scope::FileScope;
use crate::task::TaskState;
use crate::time::Millis;

/// How many tasks may run at once; `None` is no bound.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Caps {
    pub total: Option<u32>,
    pub per_project: Option<u32>,
    /// By agent name.
    pub per_agent: BTreeMap<String, u32>,
}

impl Caps {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The fields of a ready task that decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    pub task: TaskId,
    pub project: ProjectId,
    /// Its agent, the default filled in.
    pub agent: String,
    pub scope: FileScope,
    pub limits: Limits,
}

/// What already runs, which agents take no work now, and what may be spent.
#[derive(Debug, Clone, Default)]
pub struct Load {
    /// Running tasks in the whole store.
    pub total: u32,
    pub per_project: BTreeMap<ProjectId, u32>,
    pub per_agent: BTreeMap<String, u32>,
    /// The scopes of running tasks, by project.
    pub scopes: BTreeMap<ProjectId, Vec<FileScope>>,
    /// Agents whose accounts are paused.
    pub paused: BTreeSet<String>,
    /// What people paused.
    pub queue_pauses: Vec<PauseScope>,
    /// What may be spent; `None` is no bound.
    pub remaining: Option<RemainingBudget>,
}

/// Why a ready task does not start now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartRefusal {
    TotalCap,
    ProjectCap,
    AgentCap,
    AccountPaused,
    /// A person paused it.
    QueuePaused,
    ScopeOverlap,
    /// Too little money or too few tokens are left.
    Budget,
}

impl Load {
    /// Whether any task of this project and agent could start, scopes aside.
    pub fn lane(&self, project: ProjectId, agent: &str, caps: &Caps) -> Result<(), StartRefusal> {
        let full = |running: Option<&u32>, cap: Option<u32>| {
            cap.is_some_and(|cap| running.copied().unwrap_or(0) >= cap)
        };
        if self.queue_pauses.iter().any(|pause| pause.covers(project, agent)) {
            return Err(StartRefusal::QueuePaused);
        }
        if self.paused.contains(agent) {
            return Err(StartRefusal::AccountPaused);
        }
        if full(Some(&self.total), caps.total) {
            return Err(StartRefusal::TotalCap);
        }
        if full(self.per_project.get(&project), caps.per_project) {
            return Err(StartRefusal::ProjectCap);
        }
        if full(self.per_agent.get(agent), caps.per_agent.get(agent).copied()) {
            return Err(StartRefusal::AgentCap);
        }
        Ok(())
    }

    /// Starts `candidate` if nothing blocks it: from then on it is part of the load. Returns what is reserved for it.
    pub fn admit(&mut self, candidate: &Candidate, caps: &Caps) -> Result<Bounds, StartRefusal> {
        self.lane(candidate.project, &candidate.agent, caps)?;
        let scopes = self.scopes.entry(candidate.project).or_default();
        if scopes.iter().any(|running| running.overlaps(&candidate.scope)) {
            return Err(StartRefusal::ScopeOverlap);
        }
        let given = self.remaining.as_mut().map(|remaining| remaining.take(candidate.limits));
        let given = given.transpose().map_err(|_| StartRefusal::Budget)?.unwrap_or_default();
        if !candidate.scope.is_empty() {
            scopes.push(candidate.scope.clone());
        }
        self.total += 1;
        *self.per_project.entry(candidate.project).or_default() += 1;
        *self.per_agent.entry(candidate.agent.clone()).or_default() += 1;
        Ok(given)
    }
}

/// One task as the definition of "ready" sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueuedTask {
    pub task: TaskId,
    pub state: TaskState,
    /// 5 first.
    pub priority: i64,
    pub not_before: Option<Millis>,
}

/// The ready set by its definition, in the order in which it is served: queued, due, every dependency done.
/// The store keeps counters instead; its tests compare the two.
pub fn ready(tasks: &[QueuedTask], edges: &[crate::deps::Edge], now: Millis) -> Vec<TaskId> {
    let done: BTreeSet<TaskId> =
        tasks.iter().filter(|task| task.state == TaskState::Done).map(|task| task.task).collect();
    let mut ready: Vec<&QueuedTask> = tasks
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
    use crate::budget::{Budget, Spent};
    use crate::id::IdMaker;

    fn candidate(maker: &mut IdMaker, project: ProjectId, agent: &str, scope: &[&str]) -> Candidate {
        Candidate {
            task: maker.next(Millis(0), 0),
            project,
            agent: agent.to_owned(),
            scope: FileScope::parse(scope).unwrap(),
            limits: Limits::default(),
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
        let mut admit = |project, agent, scope: &[&str]| {
            load.admit(&candidate(&mut maker, project, agent, scope), &caps).map(drop)
        };
        assert_eq!(admit(one, "codex", &["src/**"]), Ok(()));
        assert_eq!(admit(two, "codex", &[]), Err(StartRefusal::AgentCap));
        assert_eq!(admit(two, "gemini", &[]), Err(StartRefusal::AccountPaused));
        assert_eq!(admit(one, "claude", &["src/a.rs"]), Err(StartRefusal::ScopeOverlap));
        assert_eq!(admit(two, "claude", &["src/a.rs"]), Ok(()), "scopes of two projects never meet");
        assert_eq!(admit(one, "claude", &["docs"]), Ok(()));
        assert_eq!(admit(one, "claude", &[]), Err(StartRefusal::ProjectCap));
        assert_eq!(admit(two, "claude", &[]), Ok(()));
        assert_eq!(admit(two, "claude", &[]), Err(StartRefusal::TotalCap));
    }

    #[test]
    fn what_a_person_paused_does_not_start() {
        let mut maker = IdMaker::default();
        let (one, two): (ProjectId, ProjectId) = (maker.next(Millis(0), 1), maker.next(Millis(0), 1));
        let pause = PauseScope { project: Some(one), agent: None };
        let load = Load { queue_pauses: vec![pause], ..Load::default() };
        let lane = |project| load.lane(project, "codex", &Caps::default());
        assert_eq!([lane(one), lane(two)], [Err(StartRefusal::QueuePaused), Ok(())]);
    }

    #[test]
    fn what_is_put_aside_is_gone_for_the_next() {
        let mut maker = IdMaker::default();
        let project: ProjectId = maker.next(Millis(0), 1);
        let day = Bounds { micro_usd: Some(2_500_000), tokens: None };
        let remaining =
            RemainingBudget { budget: Budget { day, ..Budget::default() }, spent: Spent::default() };
        let mut load = Load { remaining: Some(remaining), ..Load::default() };
        let mut admit = |load: &mut Load| {
            load.admit(&candidate(&mut maker, project, "claude", &[]), &Caps::default())
                .map(|given| given.micro_usd)
        };
        let given = [Ok(Some(1_000_000)), Ok(Some(1_000_000)), Ok(Some(500_000)), Err(StartRefusal::Budget)];
        assert_eq!(given.map(|_| admit(&mut load)), given);
        assert_eq!(load.total, 3, "who is refused is no load");
    }
}
