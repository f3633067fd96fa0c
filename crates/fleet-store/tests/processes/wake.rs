//! Whoever waits is woken, also by a process that ended right after its last write.

use std::time::{Duration, Instant};

use fleet_core::task::{Status, TaskState};
use fleet_store::Store;
use fleet_store::ops::{ListTasks, StatusFilter, TaskFilter};

use crate::block_on;
use crate::crew::Crew;
use crate::place::Place;
use crate::worker::{Role, now};

const ROUNDS: usize = 8;

/// How long a watcher would sleep if nobody woke it.
const LONGEST: Duration = Duration::from_mins(1);

/// Woken after this is not woken.
const BOUND: Duration = Duration::from_secs(30);

#[test]
fn heavy_a_process_that_ends_at_once_has_woken_the_others_sqlite() {
    block_on(wake(&Place::sqlite()));
}

#[test]
fn heavy_a_process_that_ends_at_once_has_woken_the_others_postgres() {
    block_on(wake(&Place::postgres()));
}

async fn wake(place: &Place) {
    let store = place.open().await;
    let mut crew = Crew::at(place);
    for round in 1..=ROUNDS {
        let steps = [(Role::Add(1), TaskState::Queued, 1), (Role::Once, TaskState::Done, round)];
        for (role, state, count) in steps {
            let watch = store.watch().await.unwrap();
            let begun = Instant::now();
            crew.start(role.clone());
            while in_state(&store, state).await < count {
                watch.changed(LONGEST).await;
                assert!(begun.elapsed() < BOUND, "nobody was woken when {role:?} ended, in round {round}");
            }
            crew.wait_for(LONGEST, "it has ended", |_| true);
        }
    }
    crew.assert_no_complaints();
}

async fn in_state(store: &Store, state: TaskState) -> usize {
    let statuses = StatusFilter(vec![Status::In(state)]);
    let list = ListTasks { statuses, filter: TaskFilter::default(), limit: 1_000, now: now() };
    store.call(list).await.unwrap().tasks.len()
}
