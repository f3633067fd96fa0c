//! Two hundred processes at once.

use std::time::Duration;

use fleet_store::Store;
use fleet_store::ops::{ListTasks, StatusFilter, TaskFilter};

use crate::block_on;
use crate::crew::Crew;
use crate::evidence::Evidence;
use crate::place::Place;
use crate::verdict::Verdict;
use crate::worker::{Role, Signal, label, now};

const ADDERS: usize = 60;
const TASKS_EACH: usize = 8;
const WORKERS: usize = 110;
const EXPIRERS: usize = 15;
const FOLLOWERS: usize = 15;

/// Far more than it takes, for machines that do other things, too.
const BOUND: Duration = Duration::from_mins(2);

#[test]
fn heavy_two_hundred_processes_sqlite() {
    let place = Place::sqlite();
    crowd(&place);
}

#[test]
fn heavy_two_hundred_processes_postgres() {
    let place = Place::own_postgres(400);
    crowd(&place);
}

fn crowd(place: &Place) {
    let mut crew = Crew::at(place);
    for number in 0..WORKERS {
        crew.start(Role::Work);
        if number < ADDERS {
            crew.start(Role::Add(TASKS_EACH));
        }
        if number < FOLLOWERS {
            crew.start(Role::Tail(0));
        }
        if number < EXPIRERS {
            crew.start(Role::Expire);
        }
    }
    assert_eq!(crew.members.len(), 200);
    crew.wait_for(BOUND, "all tasks are added", |role| matches!(role, Role::Add(_)));
    crew.signal(Signal::AllAdded);
    crew.wait_for(BOUND, "nothing is left to be done", |role| *role == Role::Work);
    crew.signal(Signal::Stop);
    crew.wait_for(BOUND, "all others have ended", |_| true);
    crew.assert_no_complaints();
    block_on(judge(place));
}

async fn judge(place: &Place) {
    let store = place.open().await;
    let verdict = Verdict::of(&store).await;
    let evidence = Evidence::gather(place.folder());
    verdict.assert_agrees_with(&evidence);
    verdict.assert_all_done();
    assert_eq!(verdict.tasks.keys().copied().collect::<Vec<_>>(), Vec::from_iter(evidence.tasks()));
    assert_eq!(verdict.tasks.len(), ADDERS * TASKS_EACH);
    // Nobody was killed, so every end of a task was heard by somebody.
    let done = evidence.ended.iter().filter(|(_, _, word)| word == "done").count();
    assert_eq!(done, verdict.tasks.len());
    for (follower, followed) in &evidence.followed {
        assert_eq!(followed.saw.len(), verdict.events.len(), "{follower} did not see everything");
    }
    for (adder, tasks) in &evidence.added {
        assert_eq!(labelled(&store, adder).await, tasks.len(), "the label of {adder} finds others");
    }
    println!("{}", verdict.summary(&evidence));
}

async fn labelled(store: &Store, adder: &str) -> usize {
    let filter = TaskFilter { labels: vec![label(adder)], ..TaskFilter::default() };
    let list = ListTasks { statuses: StatusFilter::all(), filter, limit: 1_000, now: now() };
    store.call(list).await.unwrap().tasks.len()
}
