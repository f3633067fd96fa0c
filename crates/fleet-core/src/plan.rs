//! In which order open tasks are best done, and what holds up most.
//!
//! Owns the order, the longest chain, what each task holds up, and dependencies that seem to be missing. Decides
//! nothing: what starts when is the scheduler's business, and only people and agents add dependencies.

mod missing;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

pub use missing::{Hint, MissingDependency, missing};

use crate::deps::{self, Edge};
use crate::id::TaskId;
use crate::scope::FileScope;
use crate::task::{Complexity, Priority};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenTask {
    pub id: TaskId,
    pub title: String,
    /// The body, or its beginning.
    pub body: String,
    pub priority: Priority,
    pub complexity: Option<Complexity>,
    pub scope: FileScope,
}

/// The place of a task in the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedTask {
    pub id: TaskId,
    /// How many open tasks must be done before it, one after the other: tasks of one level could run together.
    pub level: usize,
    /// How many open tasks wait for it, directly or not.
    pub unblocks: usize,
    /// How large the longest chain is that ends with it, in the units of [`size`].
    pub ends_at: u32,
    /// Whether it is part of the longest chain.
    pub is_critical: bool,
}

/// An order for open tasks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// Each task comes after those it waits for; otherwise in the order of service.
    pub steps: Vec<PlannedTask>,
    /// The chain that takes longest, first task first: more agents cannot finish sooner.
    pub critical_path: Vec<TaskId>,
}

/// The estimated work of a task: a trivial one is 1.
pub const fn size(complexity: Option<Complexity>) -> u32 {
    match complexity {
        Some(Complexity::Trivial) => 1,
        Some(Complexity::Small) => 2,
        Some(Complexity::Medium) | None => 4,
        Some(Complexity::Large) => 8,
        Some(Complexity::Xl) => 16,
    }
}

/// Orders tasks. Edges to other tasks are ignored: those are done, or not considered.
pub fn plan(items: &[OpenTask], edges: &[Edge]) -> Plan {
    let by_id: BTreeMap<TaskId, &OpenTask> = items.iter().map(|item| (item.id, item)).collect();
    let inner: BTreeSet<Edge> = edges
        .iter()
        .filter(|edge| by_id.contains_key(&edge.task) && by_id.contains_key(&edge.on))
        .copied()
        .collect();
    let edges: Vec<Edge> = inner.into_iter().collect();
    let order = order(&by_id, &edges);
    let unblocks = unblocks(&edges);
    let reach = reach(&by_id, &edges, &order);
    let critical_path = longest(&reach);
    let step = |id: &TaskId| PlannedTask {
        id: *id,
        level: reach.get(id).map_or(0, |reach| reach.level),
        unblocks: unblocks.get(id).copied().unwrap_or(0),
        ends_at: reach.get(id).map_or(0, |reach| reach.ends_at),
        is_critical: critical_path.contains(id),
    };
    Plan { steps: order.iter().map(step).collect(), critical_path }
}

/// Repeatedly takes the task that would be served first among those that could start.
fn order(by_id: &BTreeMap<TaskId, &OpenTask>, edges: &[Edge]) -> Vec<TaskId> {
    let mut waiting: BTreeMap<TaskId, usize> = by_id.keys().map(|id| (*id, 0)).collect();
    let mut dependents: BTreeMap<TaskId, Vec<TaskId>> = BTreeMap::new();
    for edge in edges {
        *waiting.entry(edge.task).or_default() += 1;
        dependents.entry(edge.on).or_default().push(edge.task);
    }
    let key = |id: TaskId| (Reverse(by_id.get(&id).map(|item| item.priority)), id);
    let mut free: BTreeSet<_> =
        waiting.iter().filter(|(_, open)| **open == 0).map(|(id, _)| key(*id)).collect();
    let mut order = Vec::with_capacity(by_id.len());
    while let Some((_, id)) = free.pop_first() {
        order.push(id);
        for dependent in dependents.get(&id).into_iter().flatten() {
            if let Some(open) = waiting.get_mut(dependent) {
                *open -= 1;
                if *open == 0 {
                    free.insert(key(*dependent));
                }
            }
        }
    }
    order
}

fn unblocks(edges: &[Edge]) -> BTreeMap<TaskId, usize> {
    let mut count: BTreeMap<TaskId, usize> = BTreeMap::new();
    for on in deps::closure(edges).into_values().flatten() {
        *count.entry(on).or_default() += 1;
    }
    count
}

/// How far it is to the end of a task.
struct TaskReach {
    level: usize,
    ends_at: u32,
    /// The one before it on the longest chain.
    after: Option<TaskId>,
}

fn reach(
    by_id: &BTreeMap<TaskId, &OpenTask>,
    edges: &[Edge],
    order: &[TaskId],
) -> BTreeMap<TaskId, TaskReach> {
    let mut on: BTreeMap<TaskId, Vec<TaskId>> = BTreeMap::new();
    for edge in edges {
        on.entry(edge.task).or_default().push(edge.on);
    }
    let mut reach: BTreeMap<TaskId, TaskReach> = BTreeMap::new();
    for id in order {
        let before = on.get(id).into_iter().flatten();
        let before = before.filter_map(|id| Some((*id, reach.get(id)?)));
        let level = before.clone().map(|(_, reach)| reach.level + 1).max().unwrap_or(0);
        // Of two that end together, the older one is named: the answer must not depend on the caller.
        let last = before.max_by_key(|(id, reach)| (reach.ends_at, Reverse(*id)));
        let (after, from) = last.map_or((None, 0), |(id, reach)| (Some(id), reach.ends_at));
        let own = by_id.get(id).map_or(0, |item| size(item.complexity));
        reach.insert(*id, TaskReach { level, ends_at: from.saturating_add(own), after });
    }
    reach
}

fn longest(reach: &BTreeMap<TaskId, TaskReach>) -> Vec<TaskId> {
    let last = reach.iter().max_by_key(|(id, reach)| (reach.ends_at, Reverse(**id)));
    let mut chain: Vec<TaskId> = Vec::new();
    let mut at = last.map(|(id, _)| *id);
    while let Some(id) = at {
        chain.push(id);
        at = reach.get(&id).and_then(|reach| reach.after);
    }
    chain.reverse();
    chain
}
