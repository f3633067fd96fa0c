//! What must hold in the store, whatever happened to those who used it.

use std::collections::BTreeMap;

use fleet_core::budget::Used;
use fleet_core::event::{AgentEvent, Event, Fact};
use fleet_core::id::{RunId, TaskId};
use fleet_core::run::Run;
use fleet_core::task::TaskState;
use fleet_core::time::Millis;
use fleet_store::Store;
use fleet_store::ops::{Audit, EventsAfter, ExportTasks, ListRuns, RunFilter, Spending};

use crate::evidence::Evidence;
use crate::worker::used;

/// The store as it is in the end.
pub(crate) struct Verdict {
    /// Every task with its state and its newest fence.
    pub(crate) tasks: BTreeMap<TaskId, (TaskState, i64)>,
    /// All of them, in order.
    pub(crate) events: Vec<Event>,
}

impl Verdict {
    /// Reads everything, and checks what holds by itself.
    pub(crate) async fn of(store: &Store) -> Self {
        assert_eq!(store.call(Audit).await.unwrap(), Vec::<String>::new(), "the audit found something");
        assert_eq!(store.check().await.unwrap(), Vec::<String>::new(), "the store is damaged");
        let verdict = Self { tasks: all_tasks(store).await, events: all_events(store).await };
        for (number, event) in (1..).zip(&verdict.events) {
            assert_eq!(event.seq, number, "the numbers of the events have a gap");
        }
        verdict.assert_histories_are_possible();
        let runs = all_runs(store).await;
        verdict.assert_all_was_said_once(&runs);
        assert_all_was_booked_once(store, &runs).await;
        verdict
    }

    /// Claims of a task count up, and a task is done at most once and never touched afterwards.
    fn assert_histories_are_possible(&self) {
        let mut claims: BTreeMap<TaskId, i64> = BTreeMap::new();
        let mut done: BTreeMap<TaskId, i64> = BTreeMap::new();
        for event in &self.events {
            let Some(task) = event.subject.task else { continue };
            assert_eq!(done.get(&task), None, "{task} was done before event {}", event.seq);
            match &event.fact {
                Fact::TaskStarted { attempt, .. } => {
                    let claims = claims.entry(task).or_default();
                    *claims += 1;
                    assert_eq!(*attempt, *claims, "{task} was claimed out of order at event {}", event.seq);
                }
                Fact::TaskDone {} => drop(done.insert(task, event.seq)),
                _ => {}
            }
        }
        for (task, (state, attempt)) in &self.tasks {
            assert_eq!(claims.get(task).unwrap_or(&0), attempt, "{task} was claimed without an event");
            assert_eq!(done.contains_key(task), *state == TaskState::Done, "{task} is {state}");
        }
    }

    /// Each run said 0, 1, 2 and so on, as far as its mark says that it was read.
    fn assert_all_was_said_once(&self, runs: &[Run]) {
        let mut said: BTreeMap<RunId, i64> = BTreeMap::new();
        for event in &self.events {
            let (Fact::Agent(AgentEvent::Text { text }), Some(run)) = (&event.fact, event.subject.run) else {
                continue;
            };
            let next = said.entry(run).or_default();
            assert_eq!(*text, next.to_string(), "{run} said something twice or not at all");
            *next += 1;
        }
        for run in runs {
            assert_eq!(said.get(&run.id).unwrap_or(&0), &run.decoded, "{} forgot where it was", run.id);
        }
    }

    /// For people who want to know how much happened.
    pub(crate) fn summary(&self, evidence: &Evidence) -> String {
        let claims: i64 = self.tasks.values().map(|(_, attempt)| attempt).sum();
        let most = self.tasks.values().map(|(_, attempt)| *attempt).max().unwrap_or(0);
        let Evidence { expired, lost, unreachable, slowest: (millis, what), .. } = evidence;
        format!(
            "{} tasks, {claims} claims, {most} at most, {} events, {expired} leases expired, {lost} found lost, \
             {unreachable} calls unreachable, slowest {what} with {millis} ms",
            self.tasks.len(),
            self.events.len(),
        )
    }

    pub(crate) fn assert_all_done(&self) {
        for (task, (state, _)) in &self.tasks {
            assert_eq!(*state, TaskState::Done, "{task} was not finished");
        }
    }

    /// What workers were told is what is there: nothing is missing, nothing was given to two.
    pub(crate) fn assert_agrees_with(&self, evidence: &Evidence) {
        for task in evidence.tasks() {
            assert!(self.tasks.contains_key(&task), "{task} was added and is not there");
        }
        let claims = counted(evidence.claimed.iter().map(|(task, attempt)| (*task, *attempt)));
        for ((task, attempt), times) in claims {
            assert_eq!(times, 1, "claim {attempt} of {task} was given to several");
            assert!(attempt <= self.tasks[&task].1, "claim {attempt} of {task} is not there");
        }
        let ends = counted(evidence.ended.iter().map(|(task, attempt, _)| (*task, *attempt)));
        for ((task, attempt), times) in ends {
            assert_eq!(times, 1, "claim {attempt} of {task} was ended by several");
        }
        for (task, attempt, word) in &evidence.ended {
            let (state, newest) = self.tasks[task];
            if word == "done" {
                assert_eq!((state, newest), (TaskState::Done, *attempt), "{task} was done and then not");
            }
        }
        for (follower, followed) in &evidence.followed {
            for ((seq, kind), number) in followed.saw.iter().zip(followed.since + 1..) {
                assert_eq!(*seq, number, "{follower} saw a gap or disorder");
                let event = &self.events[usize::try_from(*seq).unwrap() - 1];
                assert_eq!(*kind, event.fact.kind(), "{follower} saw another event {seq}");
            }
        }
    }
}

/// What the ledger has is what the runs used, however they ended.
async fn assert_all_was_booked_once(store: &Store, runs: &[Run]) {
    let spent = store.call(Spending { now: Millis(0) }).await.unwrap();
    let mut total = Used::default();
    for run in runs {
        assert_eq!(run.usage, used(run.decoded), "{} forgot what it used", run.id);
        total.micro_usd += run.usage.micro_usd;
        total.tokens += run.usage.input_tokens + run.usage.output_tokens;
    }
    assert_eq!(spent.total, total, "something was booked twice or not at all");
}

fn counted(pairs: impl Iterator<Item = (TaskId, i64)>) -> BTreeMap<(TaskId, i64), usize> {
    let mut counts = BTreeMap::new();
    for pair in pairs {
        *counts.entry(pair).or_default() += 1;
    }
    counts
}

async fn all_tasks(store: &Store) -> BTreeMap<TaskId, (TaskState, i64)> {
    let mut tasks = BTreeMap::new();
    loop {
        let after = tasks.last_key_value().map(|(task, _)| *task);
        let page = store.call(ExportTasks { project: None, after, limit: 1_000 }).await.unwrap();
        if page.is_empty() {
            return tasks;
        }
        tasks.extend(page.into_iter().map(|(task, _)| (task.id, (task.state(), task.history.attempts))));
    }
}

async fn all_runs(store: &Store) -> Vec<Run> {
    let all = ListRuns { filter: RunFilter::default(), limit: i64::MAX };
    store.call(all).await.unwrap().into_iter().map(|listed| listed.run).collect()
}

async fn all_events(store: &Store) -> Vec<Event> {
    let mut events: Vec<Event> = Vec::new();
    loop {
        let since = events.last().map_or(0, |event| event.seq);
        let page = store.call(EventsAfter { since, project: None, limit: 2_000 }).await.unwrap();
        if page.is_empty() {
            return events;
        }
        events.extend(page);
    }
}
