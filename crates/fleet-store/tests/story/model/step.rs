//! What can happen in a random story. Tasks and runs are named by numbers, taken modulo how many there are.

use fleet_core::run::Reason;
use fleet_core::task::TaskMove;
use proptest::prelude::*;
use proptest::sample::select;

#[derive(Debug, Clone)]
pub(super) enum Step {
    Add {
        priority: i64,
        after: Vec<usize>,
        delay: u64,
        retries: u32,
    },
    Depend {
        task: usize,
        on: usize,
    },
    Undepend {
        task: usize,
        on: usize,
    },
    Move(usize, TaskMove),
    Delete(usize),
    Prompt(usize),
    Claim {
        slots: usize,
    },
    End(usize, End),
    Renew(usize),
    Expire,
    /// So many seconds.
    Pass(u64),
}

#[derive(Debug, Clone, Copy)]
pub(super) enum End {
    Succeed,
    Fail(Reason),
    Ask,
    Release,
    Cancel,
}

pub(super) fn any() -> impl Strategy<Value = Step> {
    const MOVES: [TaskMove; 4] = [TaskMove::Hold, TaskMove::Release, TaskMove::Cancel, TaskMove::Retry];
    let number = 0..1_000_usize;
    // Half of them at once, the others in a while.
    let delay = prop_oneof![Just(0), 1..120_u64];
    let add = (1..=5_i64, prop::collection::vec(number.clone(), 0..4), delay, 0..3_u32);
    prop_oneof![
        5 => add.prop_map(|(priority, after, delay, retries)| Step::Add { priority, after, delay, retries }),
        4 => (number.clone(), number.clone()).prop_map(|(task, on)| Step::Depend { task, on }),
        2 => (number.clone(), number.clone()).prop_map(|(task, on)| Step::Undepend { task, on }),
        5 => (number.clone(), select(&MOVES)).prop_map(|(task, event)| Step::Move(task, event)),
        1 => number.clone().prop_map(Step::Delete),
        3 => number.clone().prop_map(Step::Prompt),
        4 => (0..4_usize).prop_map(|slots| Step::Claim { slots }),
        6 => (number.clone(), end()).prop_map(|(run, end)| Step::End(run, end)),
        1 => number.prop_map(Step::Renew),
        2 => Just(Step::Expire),
        3 => (1..90_u64).prop_map(Step::Pass),
    ]
}

fn end() -> impl Strategy<Value = End> {
    prop_oneof![
        4 => Just(End::Succeed),
        3 => select(Reason::ALL).prop_map(End::Fail),
        1 => Just(End::Ask),
        1 => Just(End::Release),
        1 => Just(End::Cancel),
    ]
}
