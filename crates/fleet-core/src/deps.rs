//! Dependencies between tasks: cycles, and why a task does not start.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::id::TaskId;
use crate::task::TaskState;

/// `task` starts only after `on` is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    pub task: TaskId,
    pub on: TaskId,
}

/// The shortest chain of dependencies from `from` to `to`, both included, if there is one.
pub fn path(edges: &[Edge], from: TaskId, to: TaskId) -> Option<Vec<TaskId>> {
    let mut next: BTreeMap<TaskId, Vec<TaskId>> = BTreeMap::new();
    for edge in edges {
        next.entry(edge.task).or_default().push(edge.on);
    }
    let mut came_from = BTreeMap::from([(from, from)]);
    let mut queue = VecDeque::from([from]);
    while let Some(task) = queue.pop_front() {
        if task == to {
            return Some(walk_back(&came_from, from, to));
        }
        for on in next.get(&task).into_iter().flatten() {
            if !came_from.contains_key(on) {
                came_from.insert(*on, task);
                queue.push_back(*on);
            }
        }
    }
    None
}

fn walk_back(came_from: &BTreeMap<TaskId, TaskId>, from: TaskId, to: TaskId) -> Vec<TaskId> {
    let mut chain = vec![to];
    let mut at = to;
    while at != from {
        at = came_from.get(&at).copied().unwrap_or(from);
        chain.push(at);
    }
    chain.reverse();
    chain
}

/// The cycle that adding `edge` would close: it begins and ends with the same task.
pub fn cycle(edges: &[Edge], edge: Edge) -> Option<Vec<TaskId>> {
    path(edges, edge.on, edge.task).map(|mut chain| {
        chain.insert(0, edge.task);
        chain
    })
}

/// Everything that each task waits for, directly or not. For graphs that a person looks at: the cost is quadratic. A
/// cycle, which the store never admits, only makes its tasks wait for each other.
pub fn closure(edges: &[Edge]) -> BTreeMap<TaskId, BTreeSet<TaskId>> {
    let mut next: BTreeMap<TaskId, BTreeSet<TaskId>> = BTreeMap::new();
    for edge in edges {
        next.entry(edge.task).or_default().insert(edge.on);
    }
    let behind = |task: &TaskId| {
        let mut open: Vec<TaskId> = next.get(task).into_iter().flatten().copied().collect();
        let mut seen = BTreeSet::new();
        while let Some(on) = open.pop() {
            if seen.insert(on) {
                open.extend(next.get(&on).into_iter().flatten());
            }
        }
        seen
    };
    next.keys().map(|task| (*task, behind(task))).collect()
}

/// Some cycle among `edges`, if there is any: for a whole file of tasks that comes in at once.
pub fn any_cycle(edges: &[Edge]) -> Option<Vec<TaskId>> {
    let mut waiting: BTreeMap<TaskId, usize> = BTreeMap::new();
    let mut dependents: BTreeMap<TaskId, Vec<TaskId>> = BTreeMap::new();
    for edge in edges.iter().collect::<BTreeSet<_>>() {
        *waiting.entry(edge.task).or_default() += 1;
        waiting.entry(edge.on).or_default();
        dependents.entry(edge.on).or_default().push(edge.task);
    }
    let mut free: Vec<TaskId> =
        waiting.iter().filter(|(_, open)| **open == 0).map(|(task, _)| *task).collect();
    while let Some(task) = free.pop() {
        waiting.remove(&task);
        for dependent in dependents.get(&task).into_iter().flatten() {
            if let Some(open) = waiting.get_mut(dependent) {
                *open -= 1;
                if *open == 0 {
                    free.push(*dependent);
                }
            }
        }
    }
    // Everything left is on a cycle or behind one; the edge that closes a cycle is found by trying each.
    let left: Vec<Edge> = edges
        .iter()
        .filter(|e| waiting.contains_key(&e.task) && waiting.contains_key(&e.on))
        .copied()
        .collect();
    let start = walk_into_cycle(&left)?;
    left.iter().filter(|edge| edge.task == start).find_map(|edge| cycle(&left, *edge))
}

/// Follows one dependency of each until a task comes up again: that one is on a cycle.
fn walk_into_cycle(left: &[Edge]) -> Option<TaskId> {
    let next: BTreeMap<TaskId, TaskId> = left.iter().map(|edge| (edge.task, edge.on)).collect();
    let mut seen = BTreeSet::new();
    let mut at = left.first()?.task;
    while seen.insert(at) {
        at = *next.get(&at)?;
    }
    Some(at)
}

/// Why a blocked task does not start: the nearest dependency that needs a person, or else the nearest one that is not
/// done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle {
    /// From the direct dependency to the one that is the cause.
    pub chain: Vec<TaskId>,
    /// The state of the last of the chain.
    pub state: TaskState,
}

impl Obstacle {
    /// Whether nothing will move until a person acts.
    pub fn is_final(&self) -> bool {
        self.state.dooms_dependents()
    }
}

/// Finds what blocks `task`. `states` has the state of every task on an edge that is not done.
pub fn obstacle(edges: &[Edge], states: &BTreeMap<TaskId, TaskState>, task: TaskId) -> Option<Obstacle> {
    let open = |id: &TaskId| states.get(id).copied().filter(|state| *state != TaskState::Done);
    let mut next: BTreeMap<TaskId, Vec<TaskId>> = BTreeMap::new();
    for edge in edges {
        next.entry(edge.task).or_default().push(edge.on);
    }
    let mut chains = VecDeque::from([vec![task]]);
    let mut seen = BTreeSet::from([task]);
    let mut nearest = None;
    while let Some(chain) = chains.pop_front() {
        for on in chain.last().and_then(|last| next.get(last)).into_iter().flatten() {
            let Some(state) = open(on).filter(|_| seen.insert(*on)) else { continue };
            let longer: Vec<TaskId> = chain.iter().copied().chain([*on]).collect();
            let found = Obstacle { chain: longer[1..].to_vec(), state };
            if found.is_final() {
                return Some(found);
            }
            nearest.get_or_insert(found);
            chains.push_back(longer);
        }
    }
    nearest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::id::IdMaker;
    use crate::time::Millis;

    fn ids(count: u64) -> Vec<TaskId> {
        let mut maker = IdMaker::default();
        (0..count).map(|_| maker.next(Millis(1_800_000_000_000), 5)).collect()
    }

    fn edges(ids: &[TaskId], pairs: &[(usize, usize)]) -> Vec<Edge> {
        pairs.iter().map(|(task, on)| Edge { task: ids[*task], on: ids[*on] }).collect()
    }

    #[test]
    fn a_circle_is_named_from_end_to_end() {
        let t = ids(4);
        let known = edges(&t, &[(1, 0), (2, 1), (3, 1)]);
        let closing = Edge { task: t[0], on: t[2] };
        assert_eq!(cycle(&known, closing), Some(vec![t[0], t[2], t[1], t[0]]));
        assert_eq!(cycle(&known, Edge { task: t[3], on: t[2] }), None);
        assert_eq!(cycle(&[], Edge { task: t[0], on: t[0] }), Some(vec![t[0], t[0]]));
    }

    #[test]
    fn the_nearest_final_obstacle_is_the_answer() {
        let t = ids(5);
        let known = edges(&t, &[(4, 3), (4, 2), (3, 1), (2, 0)]);
        let mut states = BTreeMap::from([
            (t[3], TaskState::Queued),
            (t[2], TaskState::Running),
            (t[1], TaskState::Failed),
            (t[0], TaskState::Done),
        ]);
        let found = obstacle(&known, &states, t[4]).unwrap();
        assert_eq!((found.chain.as_slice(), found.state), ([t[3], t[1]].as_slice(), TaskState::Failed));
        states.insert(t[1], TaskState::Done);
        let found = obstacle(&known, &states, t[4]).unwrap();
        assert_eq!((found.chain.as_slice(), found.state), ([t[3]].as_slice(), TaskState::Queued));
        states.extend([(t[2], TaskState::Done), (t[3], TaskState::Done)]);
        assert_eq!(obstacle(&known, &states, t[4]), None);
    }

    proptest! {
        #[test]
        fn the_closure_has_a_task_exactly_when_there_is_a_path(
            pairs in prop::collection::vec((1..8_usize, 0..7_usize), 0..14),
        ) {
            let t = ids(8);
            let pairs: Vec<_> = pairs.into_iter().filter(|(task, on)| on < task).collect();
            let all = edges(&t, &pairs);
            let closure = closure(&all);
            for (a, b) in t.iter().flat_map(|a| t.iter().map(move |b| (a, b))).filter(|(a, b)| a != b) {
                let waits = closure.get(a).is_some_and(|behind| behind.contains(b));
                prop_assert_eq!(waits, path(&all, *a, *b).is_some());
            }
        }

        #[test]
        fn any_cycle_finds_a_real_circle_exactly_when_one_edge_at_a_time_does(
            pairs in prop::collection::vec((0..7_usize, 0..7_usize), 0..14),
        ) {
            let t = ids(7);
            let all = edges(&t, &pairs);
            let mut accepted: Vec<Edge> = Vec::new();
            let one_by_one = all.iter().any(|edge| {
                let closes = cycle(&accepted, *edge).is_some();
                accepted.push(*edge);
                closes
            });
            let found = any_cycle(&all);
            prop_assert_eq!(found.is_some(), one_by_one);
            if let Some(circle) = found {
                prop_assert_eq!(circle.first(), circle.last());
                for pair in circle.windows(2) {
                    let real = all.contains(&Edge { task: pair[0], on: pair[1] });
                    prop_assert!(real);
                }
            }
        }
    }
}
