//! The same tasks without a store: what the pure domain alone says should be there.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use fleet_core::Machine as _;
use fleet_core::deps::{self, Edge, Obstacle};
use fleet_core::id::{ProjectId, TaskId};
use fleet_core::message::{Addressee, MessageKind, Reception, receive};
use fleet_core::policy::{
    AccountState, FailedRun, FailureCounter, FailureDecision, Policy, ProviderRefusal, RetryPolicy,
    after_refusal,
};
use fleet_core::run::{Ending, Reason, Run};
use fleet_core::schedule::{self, QueuedTask};
use fleet_core::task::{Task, TaskMode, TaskMove, TaskState};
use fleet_core::time::Millis;
use fleet_store::StoreError;

use super::step::{End, Step};
use crate::harness::{LEASE, Rig};

pub(super) struct World {
    project: ProjectId,
    tasks: BTreeMap<TaskId, Known>,
    edges: BTreeSet<Edge>,
    live: Vec<Run>,
    /// How the account of the one agent stands, and since when.
    account: Option<(AccountState, Millis)>,
    /// How many prompts of a task wait: nobody passes any on.
    prompts: BTreeMap<TaskId, usize>,
    /// Tasks to which something was said, and how often they had been claimed by then.
    said: BTreeSet<(TaskId, i64)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Known {
    state: TaskState,
    priority: i64,
    not_before: Option<Millis>,
    retry_at: Option<Millis>,
    retry: RetryPolicy,
    failures: u32,
    waits: u32,
    check_failures: u32,
    context_restarts: u32,
    reason: Option<Reason>,
    attempt: i64,
}

/// How far apart tasks that were lost together are tried again, in the order of their ids.
const SPREAD: usize = 1_597;

/// What the model knows of a task, in a form that the store's tasks have, too.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shape {
    id: TaskId,
    known: Known,
    open: i64,
    after: Vec<TaskId>,
}

pub(super) fn shape(task: &Task, after: &[TaskId]) -> Shape {
    let known = Known {
        state: task.state(),
        priority: task.spec.priority.get(),
        not_before: task.spec.not_before,
        retry_at: task.history.retry_at,
        retry: task.spec.retry,
        failures: task.history.failures,
        waits: task.history.waits,
        check_failures: task.history.check_failures,
        context_restarts: task.history.context_restarts,
        reason: task.history.reason,
        attempt: task.history.attempts,
    };
    Shape { id: task.id, known, open: task.open_deps, after: after.to_vec() }
}

impl World {
    pub(super) fn new(project: ProjectId) -> Self {
        Self {
            project,
            tasks: BTreeMap::new(),
            edges: BTreeSet::new(),
            live: Vec::new(),
            account: None,
            prompts: BTreeMap::new(),
            said: BTreeSet::new(),
        }
    }

    pub(super) fn edges(&self) -> Vec<Edge> {
        self.edges.iter().copied().collect()
    }

    pub(super) fn waiting(&self) -> Vec<QueuedTask> {
        let waiting = |(task, known): (&TaskId, &Known)| QueuedTask {
            task: *task,
            state: known.state,
            priority: known.priority,
            not_before: known.not_before.max(known.retry_at),
        };
        self.tasks.iter().map(waiting).collect()
    }

    pub(super) fn shapes(&self) -> Vec<Shape> {
        let shape = |(id, known): (&TaskId, &Known)| {
            let after: Vec<TaskId> =
                self.edges.iter().filter(|edge| edge.task == *id).map(|edge| edge.on).collect();
            let open = after.iter().filter(|on| self.tasks[on].state != TaskState::Done).count();
            Shape { id: *id, known: known.clone(), open: i64::try_from(open).unwrap(), after }
        };
        self.tasks.iter().map(shape).collect()
    }

    pub(super) fn obstacles(&self) -> BTreeMap<TaskId, Obstacle> {
        let states = self.tasks.iter().map(|(id, known)| (*id, known.state)).collect();
        let open = self.tasks.iter().filter(|(_, known)| !known.state.is_settled());
        open.filter_map(|(id, _)| Some((*id, deps::obstacle(&self.edges(), &states, *id)?))).collect()
    }

    /// Takes a step in the store and in the model: both allow it, or both refuse it.
    pub(super) async fn take(&mut self, rig: &Rig, step: &Step) {
        match step {
            Step::Add { .. } => self.add(rig, step).await,
            Step::Pass(seconds) => rig.pass(Duration::from_secs(*seconds)),
            Step::Claim { slots } => self.claim(rig, *slots).await,
            Step::Expire => self.expire(rig).await,
            Step::End(run, end) => self.end(rig, *run, *end).await,
            Step::Renew(run) => self.renew(rig, *run).await,
            Step::Depend { task, on } => self.depend(rig, *task, *on).await,
            Step::Undepend { task, on } => self.undepend(rig, *task, *on).await,
            Step::Move(task, event) => self.move_task(rig, *task, *event).await,
            Step::Delete(task) => self.delete(rig, *task).await,
            Step::Prompt(task) => self.prompt(rig, *task).await,
        }
    }

    fn pick(&self, number: usize) -> Option<TaskId> {
        self.tasks.keys().copied().cycle().nth(number % self.tasks.len().max(1))
    }

    fn known(&mut self, id: TaskId) -> &mut Known {
        self.tasks.get_mut(&id).unwrap()
    }

    async fn add(&mut self, rig: &Rig, step: &Step) {
        let Step::Add { priority, after, delay, retries } = step else { return };
        let retry = RetryPolicy { retries: *retries, backoff_seconds: 20, check_retries: *retries };
        let not_before = Some(rig.now().plus(Duration::from_secs(*delay))).filter(|_| *delay > 0);
        let mut draft = rig.draft_in(self.project, "random");
        draft.spec.priority = (*priority).try_into().unwrap();
        draft.spec.retry = retry;
        draft.spec.not_before = not_before;
        draft.after = after
            .iter()
            .filter_map(|number| self.pick(*number))
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        self.edges.extend(draft.after.iter().map(|on| Edge { task: draft.id, on: *on }));
        let state = TaskState::Queued;
        let known = Known {
            state,
            priority: *priority,
            not_before,
            retry_at: None,
            retry,
            failures: 0,
            waits: 0,
            check_failures: 0,
            context_restarts: 0,
            reason: None,
            attempt: 0,
        };
        self.tasks.insert(draft.id, known);
        rig.add_one(draft).await;
    }

    async fn depend(&mut self, rig: &Rig, task: usize, on: usize) {
        let (Some(task), Some(on)) = (self.pick(task), self.pick(on)) else { return };
        let edge = Edge { task, on };
        let answer = rig.store.call(rig.depending(task, on)).await;
        let takes = [TaskState::Queued, TaskState::Held, TaskState::Failed, TaskState::Waiting];
        if !takes.contains(&self.tasks[&task].state) {
            assert!(matches!(answer, Err(StoreError::NotNow { .. })), "{answer:?}");
        } else if let Some(circle) = deps::cycle(&self.edges(), edge) {
            let Err(StoreError::Cycle { path }) = answer else { panic!("{answer:?} instead of {circle:?}") };
            assert_eq!(path.len(), circle.len(), "both name a shortest one");
        } else {
            assert_eq!(answer.unwrap().1, self.edges.insert(edge));
        }
    }

    async fn undepend(&mut self, rig: &Rig, task: usize, on: usize) {
        let (Some(task), Some(on)) = (self.pick(task), self.pick(on)) else { return };
        let answer = rig.store.call(rig.undepending(task, on)).await;
        if self.edges.remove(&Edge { task, on }) {
            answer.unwrap();
        } else {
            assert!(matches!(answer, Err(StoreError::NoSuchDependency { .. })), "{answer:?}");
        }
    }

    async fn move_task(&mut self, rig: &Rig, task: usize, event: TaskMove) {
        let Some(id) = self.pick(task) else { return };
        let answer = rig.store.call(rig.moving(id, event)).await;
        let known = self.known(id);
        let Ok(to) = known.state.next(event) else {
            assert!(matches!(answer, Err(StoreError::Illegal { .. })), "{answer:?}");
            return;
        };
        assert_eq!(answer.unwrap().state(), to);
        if event == TaskMove::Retry {
            (known.failures, known.waits) = (0, 0);
            (known.check_failures, known.context_restarts) = (0, 0);
            (known.reason, known.retry_at) = (None, None);
        }
        known.state = to;
        self.live.retain(|run| run.task != id);
    }

    async fn delete(&mut self, rig: &Rig, task: usize) {
        let Some(id) = self.pick(task) else { return };
        let answer = rig.store.call(rig.deleting(id)).await;
        let state = self.tasks[&id].state;
        if state == TaskState::Running {
            assert!(matches!(answer, Err(StoreError::NotNow { .. })), "{answer:?}");
        } else if state != TaskState::Done && self.edges.iter().any(|edge| edge.on == id) {
            assert!(matches!(answer, Err(StoreError::HasDependents { .. })), "{answer:?}");
        } else {
            answer.unwrap();
            self.tasks.remove(&id);
            self.prompts.remove(&id);
            self.edges.retain(|edge| edge.task != id && edge.on != id);
        }
    }

    async fn prompt(&mut self, rig: &Rig, task: usize) {
        let Some(id) = self.pick(task) else { return };
        let answer = rig.store.call(rig.saying(id, "go on")).await;
        let waiting = self.prompts.entry(id).or_default();
        let Ok(reception) = receive(
            MessageKind::Prompt,
            Addressee { state: self.tasks[&id].state, stop: None, waiting: *waiting },
        ) else {
            assert!(matches!(answer, Err(StoreError::MessageRefused { .. })), "{answer:?}");
            return;
        };
        *waiting += 1;
        self.said.insert((id, self.tasks[&id].attempt));
        let told = answer.unwrap();
        assert_eq!((told.reception, told.message.id.seq), (reception, i64::try_from(*waiting).unwrap()));
        if reception == Reception::Reopened {
            self.step(id, TaskMove::Reopen);
            let known = self.known(id);
            (known.failures, known.waits) = (0, 0);
            (known.check_failures, known.context_restarts) = (0, 0);
            (known.reason, known.retry_at) = (None, None);
        }
        assert_eq!(told.task.state(), self.tasks[&id].state);
    }

    async fn claim(&mut self, rig: &Rig, slots: usize) {
        let paused = self.account.is_some_and(|(standing, _)| standing.until > rig.now());
        let mut expected = schedule::ready(&self.waiting(), &self.edges(), rig.now());
        expected.truncate(if paused { 0 } else { slots });
        let claimed = rig.claim(slots).await;
        assert_eq!(claimed.iter().map(|claimed| claimed.task.id).collect::<Vec<_>>(), expected);
        for claimed in claimed {
            self.step(claimed.task.id, TaskMove::Start);
            let known = self.known(claimed.task.id);
            known.attempt += 1;
            assert_eq!(claimed.run.attempt, known.attempt);
            self.live.push(claimed.run);
        }
    }

    async fn renew(&mut self, rig: &Rig, number: usize) {
        let Some(at) = number.checked_rem(self.live.len()) else { return };
        let run = &mut self.live[at];
        rig.ok(rig.renewing(run)).await;
        run.lease_until = rig.now().plus(LEASE);
    }

    async fn end(&mut self, rig: &Rig, number: usize, end: End) {
        let Some(at) = number.checked_rem(self.live.len()) else { return };
        let run = self.live.remove(at);
        let ending = match end {
            End::Succeed => Ending::Succeeded,
            End::Ask => Ending::Asked,
            End::Release => Ending::Released("stopped".to_owned()),
            End::Cancel => Ending::Cancelled("not needed".to_owned()),
            End::Fail(reason) => Ending::Failed(reason, "failed".to_owned()),
        };
        if matches!(end, End::Succeed | End::Ask) {
            rig.work(&run).await;
        }
        let told = rig.end(&run, ending).await;
        match end {
            End::Succeed => {
                let goes_on = self.said.contains(&(run.task, run.attempt));
                self.step(run.task, if goes_on { TaskMove::Requeue } else { TaskMove::Finish });
                self.known(run.task).reason = None;
                self.served(rig.now(), &run);
            }
            End::Ask => {
                self.step(run.task, TaskMove::Ask);
                // Its question is a message, too.
                *self.prompts.entry(run.task).or_default() += 1;
                self.served(rig.now(), &run);
            }
            End::Release => self.step(run.task, TaskMove::Requeue),
            End::Cancel => {
                self.step(run.task, TaskMove::Cancel);
                self.known(run.task).retry_at = None;
            }
            End::Fail(reason) => self.fail(run.task, reason, (rig.now(), 0)),
        }
        assert_eq!(told.state(), self.tasks[&run.task].state);
    }

    async fn expire(&mut self, rig: &Rig) {
        let (mut lost, live): (Vec<Run>, Vec<Run>) =
            self.live.drain(..).partition(|run| run.lease_until < rig.now());
        self.live = live;
        let ended: BTreeSet<_> = rig.ok(rig.expiring()).await.into_iter().map(|(_, run)| run).collect();
        assert_eq!(ended, lost.iter().map(|run| run.id).collect());
        lost.sort_unstable_by_key(|run| run.task);
        for (run, jitter) in lost.iter().zip((0..).step_by(SPREAD)) {
            self.fail(run.task, Reason::Lost, (rig.now(), jitter));
        }
    }

    fn step(&mut self, id: TaskId, event: TaskMove) {
        let known = self.known(id);
        known.state = known.state.next(event).unwrap_or_else(|illegal| panic!("{illegal}"));
    }

    /// A run that began after the last pause forgets the strikes, once that is over.
    fn served(&mut self, now: Millis, run: &Run) {
        self.account =
            self.account.filter(|(standing, since)| standing.until > now || *since > run.created_at);
    }

    fn fail(&mut self, id: TaskId, reason: Reason, (now, jitter): (Millis, u64)) {
        let policy = Policy::default();
        if policy.pauses(reason) {
            let before = self.account.map(|(standing, _)| standing);
            let after = after_refusal(
                before,
                &ProviderRefusal { patience: policy.patience(reason), reset: None, jitter, now },
            );
            if before != Some(after) {
                self.account = Some((after, now));
            }
        }
        let known = self.known(id);
        let (mode, retry) = (TaskMode::Headless, known.retry);
        let (failures, waits) = (known.failures, known.waits);
        let (check_failures, context_restarts) = (known.check_failures, known.context_restarts);
        let failure =
            FailedRun { reason, mode, failures, waits, check_failures, context_restarts, retry, jitter };
        let verdict = policy.after_failure(&failure, None);
        match verdict.counter(reason) {
            FailureCounter::Failures => known.failures += 1,
            FailureCounter::Waits => known.waits += 1,
            FailureCounter::Checks => known.check_failures += 1,
            FailureCounter::ContextRestarts => known.context_restarts += 1,
        }
        known.reason = Some(reason);
        match verdict {
            FailureDecision::GiveUp => self.step(id, TaskMove::Fail),
            FailureDecision::RetryAfter(wait) => {
                known.retry_at = Some(now.plus(wait));
                self.step(id, TaskMove::Requeue);
            }
            FailureDecision::Pause => {
                known.retry_at = None;
                self.step(id, TaskMove::Requeue);
            }
            FailureDecision::HandOver(to) => panic!("nobody could take over, {to} least of all"),
        }
    }
}
