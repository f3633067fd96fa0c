//! Where a task comes from: a person, or the agent of a run.

use serde::{Deserialize, Serialize};

use crate::id::RunId;

/// Who added a task, and how far those may go who work on it.
///
/// The bound is fixed when a person adds a task and only ever shrinks from there: the process that adds a task for an
/// agent is started by the agent, so nothing that it was configured with can be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spawn {
    /// The run whose agent added it; none for people.
    pub parent: Option<RunId>,
    /// How many runs stand between a person and the task.
    pub depth: u32,
    /// How deep its descendants may be.
    pub most: u32,
}

/// The default bound: tasks that agents add may add tasks once more.
pub const DEFAULT_SPAWN_DEPTH: u32 = 2;

impl Default for Spawn {
    fn default() -> Self {
        Self::of_a_person(DEFAULT_SPAWN_DEPTH)
    }
}

/// The task would be too far from people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the agent of run {run} cannot add tasks: {}", why(*.most))]
pub struct TooDeep {
    /// The run whose agent wanted it.
    pub run: RunId,
    pub depth: u32,
    pub most: u32,
}

fn why(most: u32) -> String {
    match most {
        0 => "agents may not add tasks (spawn depth 0)".to_owned(),
        most => format!("its task is already at the maximum spawn depth ({most})"),
    }
}

impl Spawn {
    /// A task that a person adds, with at most this many generations below it.
    pub const fn of_a_person(most: u32) -> Self {
        Self { parent: None, depth: 0, most }
    }

    /// A task that the agent of `run` adds, whose own task this one is. `wish` can only lower the bound.
    pub fn child(self, run: RunId, wish: u32) -> Result<Self, TooDeep> {
        let (depth, most) = (self.depth.saturating_add(1), self.most);
        if depth > most {
            return Err(TooDeep { run, depth, most });
        }
        Ok(Self { parent: Some(run), depth, most: most.min(wish.max(depth)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> RunId {
        "r0smmyvymnt4z7j".parse().unwrap()
    }

    #[test]
    fn so_many_generations_and_no_more() {
        for most in 0..4 {
            let mut task = Spawn::of_a_person(most);
            for depth in 1..=most {
                task = task.child(run(), u32::MAX).unwrap();
                assert_eq!((task.parent, task.depth, task.most), (Some(run()), depth, most));
            }
            assert_eq!(task.child(run(), u32::MAX), Err(TooDeep { run: run(), depth: most + 1, most }));
        }
    }

    #[test]
    fn an_agent_can_lower_the_bound_and_not_raise_it() {
        let first = Spawn::of_a_person(3).child(run(), 2).unwrap();
        assert_eq!(first.most, 2);
        assert_eq!(first.child(run(), 9).unwrap().most, 2);
        let last = Spawn::of_a_person(3).child(run(), 0).unwrap();
        assert_eq!((last.depth, last.most), (1, 1), "the task itself is allowed, and has no children");
    }

    #[test]
    fn the_refusal_says_why() {
        let refused =
            |most| Spawn { parent: None, depth: most, most }.child(run(), 9).unwrap_err().to_string();
        assert!(refused(0).ends_with("cannot add tasks: agents may not add tasks (spawn depth 0)"));
        assert!(refused(2).ends_with("its task is already at the maximum spawn depth (2)"));
    }
}
