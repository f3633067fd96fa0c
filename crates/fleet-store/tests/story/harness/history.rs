//! What happened, as the events tell it, and whether the tables say the same.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use fleet_core::Machine as _;
use fleet_core::event::{Event, Fact};
use fleet_core::id::{ProjectId, TaskId};
use fleet_core::task::{Task, TaskMove, TaskState};
use fleet_store::ops::{Audit, EventsAfter, ExportTasks};

use super::Rig;

/// Far above what any scenario writes.
const EVERYTHING: i64 = 1_000_000;

impl Rig {
    pub(crate) async fn events_since(&self, since: i64) -> Vec<Event> {
        self.ok(EventsAfter { since, project: None, limit: EVERYTHING }).await
    }

    /// The events that the scenario has not looked at yet.
    pub(crate) async fn news(&self) -> Vec<Event> {
        let events = self.events_since(self.shared.seen.load(Ordering::SeqCst)).await;
        if let Some(last) = events.last() {
            self.shared.seen.store(last.seq, Ordering::SeqCst);
        }
        events
    }

    /// The kinds of the events that the scenario has not looked at yet.
    pub(crate) async fn kinds(&self) -> Vec<String> {
        self.news().await.iter().map(|event| event.fact.kind()).collect()
    }

    /// The facts that the scenario has not looked at yet.
    pub(crate) async fn facts(&self) -> Vec<Fact> {
        self.news().await.into_iter().map(|event| event.fact).collect()
    }

    pub(crate) async fn export(&self, project: Option<ProjectId>) -> Vec<(Task, Vec<TaskId>)> {
        self.ok(ExportTasks { project, after: None, limit: EVERYTHING }).await
    }

    /// What every scenario ends with: nothing contradicts anything.
    pub(crate) async fn everything_fits(&self) {
        assert_eq!(self.ok(Audit).await, Vec::<String>::new());
        assert_eq!(self.store.check().await.unwrap(), Vec::<String>::new());
        let events = self.events_since(0).await;
        assert!(events.iter().zip(1..).all(|(event, seq)| event.seq == seq), "the events have a gap");
        let told = replayed(&events, &self.shared.imported.lock().unwrap());
        for (task, after) in self.export(None).await {
            let play = told.get(&task.id).unwrap_or_else(|| panic!("nothing tells of {}", task.id));
            assert_eq!(play.state, Some(task.state()), "the events tell another story of {}", task.id);
            let mut waits_for = play.after.clone();
            // The edge to a done task goes with the task when that is deleted.
            waits_for.retain(|on| told[on].state.is_some());
            assert_eq!(waits_for, after, "the events tell of other dependencies of {}", task.id);
        }
    }
}

/// A task as its events tell it; no state once it is deleted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Play {
    pub(crate) state: Option<TaskState>,
    pub(crate) after: Vec<TaskId>,
    pub(crate) attempt: i64,
}

/// Plays all events again: each must be a legal step after those before it, or they are out of order.
pub(crate) fn replayed(events: &[Event], imported: &BTreeMap<TaskId, TaskState>) -> BTreeMap<TaskId, Play> {
    let mut plays: BTreeMap<TaskId, Play> = BTreeMap::new();
    for event in events {
        let Some(task) = event.subject.task else { continue };
        let play = plays.entry(task).or_default();
        play.apply(event);
        if let (Fact::TaskAdded { .. }, Some(state)) = (&event.fact, imported.get(&task)) {
            play.state = Some(*state);
        }
    }
    plays
}

impl Play {
    fn apply(&mut self, event: &Event) {
        match &event.fact {
            Fact::TaskAdded { after, .. } => {
                assert_eq!(self.state, None, "added twice: {event:?}");
                self.state = Some(TaskState::Queued);
                self.after.clone_from(after);
                self.after.sort_unstable();
            }
            Fact::TaskDeleted { .. } => self.state = None,
            Fact::DependencyAdded { on } => {
                self.after.push(*on);
                self.after.sort_unstable();
            }
            Fact::DependencyRemoved { on } => {
                assert!(self.after.contains(on), "removed before it was added: {event:?}");
                self.after.retain(|other| other != on);
            }
            Fact::TaskStarted { attempt, .. } => {
                self.attempt += 1;
                assert_eq!(*attempt, self.attempt, "a claim was counted wrongly: {event:?}");
                self.step(TaskMove::Start, event);
            }
            fact => {
                if let Some(step) = step_of(fact) {
                    self.step(step, event);
                }
            }
        }
    }

    fn step(&mut self, step: TaskMove, event: &Event) {
        let state = self.state.unwrap_or_else(|| panic!("no such task yet: {event:?}"));
        self.state = Some(state.next(step).unwrap_or_else(|illegal| panic!("{illegal}: {event:?}")));
    }
}

fn step_of(fact: &Fact) -> Option<TaskMove> {
    Some(match fact {
        Fact::TaskHeld { .. } => TaskMove::Hold,
        Fact::TaskReleased {} => TaskMove::Release,
        Fact::TaskCancelled { .. } => TaskMove::Cancel,
        Fact::TaskRetried {} => TaskMove::Retry,
        Fact::TaskReopened {} => TaskMove::Reopen,
        Fact::TaskDone {} => TaskMove::Finish,
        Fact::TaskWaiting {} => TaskMove::Ask,
        Fact::TaskFailed { .. } => TaskMove::Fail,
        Fact::TaskRequeued { .. } => TaskMove::Requeue,
        _ => return None,
    })
}
