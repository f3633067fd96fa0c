//! What there is to do: each task with a script of what its runs do, and how it must end.

use std::time::Duration;

use fleet_core::run::Reason;
use fleet_core::task::TaskState;

use super::chance::Chance;

pub(super) const AGENTS: [&str; 3] = ["claude", "codex", "gemini"];
pub(super) const PROJECTS: usize = 5;
const TASKS: usize = 500;
/// Tasks come during the first days, in this many batches.
const BATCHES: usize = 60;
pub(super) const RETRIES: u32 = 2;

/// What one run of a task does in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Succeed,
    Fail(Reason),
    /// Asks a person, who answers after this time.
    Ask(Duration),
    /// The provider refuses its account for this long.
    RateLimited(Duration),
    /// Its keeper dies.
    Die,
    /// Its keeper hangs for longer than its lease, and then wants to report success.
    Stall,
}

#[derive(Debug, Clone)]
pub(super) struct TaskPlan {
    pub(super) project: usize,
    /// `None` has the default agent.
    pub(super) agent: Option<&'static str>,
    pub(super) priority: i64,
    /// Positions of earlier tasks.
    pub(super) after: Vec<usize>,
    /// One for each run, in order.
    pub(super) acts: Vec<Act>,
    /// How it ends, if what it waits for is done and no person cancels it.
    pub(super) end: TaskState,
    /// A person takes a failed task up again, once; then it succeeds.
    pub(super) is_retried: bool,
    /// When a person cancels it, after it was added.
    pub(super) cancelled_after: Option<Duration>,
    /// When a person holds it, and for how long.
    pub(super) held: Option<(Duration, Duration)>,
}

/// Batches of tasks, in the order in which they are added.
pub(super) fn plan(chance: &mut Chance) -> Vec<Vec<TaskPlan>> {
    let mut batches = vec![Vec::new(); BATCHES];
    for number in 0..TASKS {
        batches[number * BATCHES / TASKS].push(task(chance, number));
    }
    batches
}

fn task(chance: &mut Chance, number: usize) -> TaskPlan {
    let dependencies = if number == 0 || chance.percent(60) { 0 } else { 1 + chance.below(3) };
    let mut after: Vec<usize> = (0..dependencies).map(|_| chance.below(number)).collect();
    after.sort_unstable();
    after.dedup();
    let (acts, end) = acts(chance);
    let is_retried = end == TaskState::Failed && chance.percent(30);
    TaskPlan {
        project: chance.below(PROJECTS),
        agent: chance.percent(80).then(|| *chance.pick(&AGENTS)),
        priority: i64::try_from(chance.below(5)).unwrap() + 1,
        after,
        acts,
        end: if is_retried { TaskState::Done } else { end },
        is_retried,
        cancelled_after: chance.percent(4).then(|| chance.minutes(24 * 60)),
        held: chance.percent(5).then(|| (chance.minutes(60), chance.minutes(12 * 60))),
    }
}

/// First what is free of the count of failures. Then as many failures as are forgiven, or one more.
fn acts(chance: &mut Chance) -> (Vec<Act>, TaskState) {
    let mut acts: Vec<Act> = (0..chance.below(6) / 2).map(|_| free(chance)).collect();
    let gives_up = chance.percent(6);
    if gives_up && chance.percent(50) {
        acts.push(Act::Fail(Reason::BadModel));
        return (acts, TaskState::Failed);
    }
    let failures = if gives_up { RETRIES as usize + 1 } else { chance.below(10).saturating_sub(6).min(2) };
    acts.extend((0..failures).map(|_| failure(chance)));
    if gives_up {
        return (acts, TaskState::Failed);
    }
    acts.push(Act::Succeed);
    (acts, TaskState::Done)
}

/// Checks that fail and full contexts have bounds of their own, which two of them do not reach.
fn free(chance: &mut Chance) -> Act {
    match chance.below(5) {
        0 | 1 => Act::Ask(chance.minutes(36 * 60)),
        2 => Act::RateLimited(chance.minutes(5 * 60)),
        3 => Act::Fail(Reason::ChecksFailed),
        _ => Act::Fail(Reason::ContextPressure),
    }
}

fn failure(chance: &mut Chance) -> Act {
    *chance.pick(&[
        Act::Fail(Reason::AgentError),
        Act::Fail(Reason::NoChanges),
        Act::Fail(Reason::TimedOut),
        Act::Die,
        Act::Stall,
    ])
}
