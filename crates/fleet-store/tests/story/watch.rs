//! Waiting for changes that another process makes.

use std::time::Duration;

use fleet_core::run::Run;
use fleet_core::task::TaskMove;
use fleet_store::ops::{GetTask, RenewLease};
use fleet_store::{StoreError, Watch};
use tokio::time::Instant;

use crate::harness::{LEASE, Rig};

story! {
    a_change_wakes_who_waits_elsewhere
    a_change_before_the_wait_is_not_lost
    what_changes_nothing_wakes_nobody
}

/// What a waiter is promised; the usual wait is a thousandth of it.
const GENEROUS: Duration = Duration::from_secs(2);
/// For a single wait on a machine that stands still now and then.
const AT_MOST: Duration = Duration::from_secs(30);
/// Longer than any test runs: nobody is woken by the end of it.
const FOR_EVER: Duration = Duration::from_hours(1);
/// Longer than a ring that is still on its way can take, on a machine that is not overwhelmed.
const QUIET: Duration = Duration::from_millis(200);

/// Waits for a ring, and says how long that took.
async fn rung(watch: &Watch) -> Duration {
    let start = Instant::now();
    let ring = tokio::time::timeout(AT_MOST, watch.changed(FOR_EVER)).await;
    assert!(ring.is_ok(), "nobody was woken within {AT_MOST:?}");
    start.elapsed()
}

/// Whether nothing rings for a while.
async fn silent(watch: &Watch) -> bool {
    tokio::time::timeout(QUIET, watch.changed(FOR_EVER)).await.is_err()
}

async fn a_change_wakes_who_waits_elsewhere(rig: &Rig) {
    let elsewhere = rig.elsewhere().await;
    let watch = elsewhere.store.watch().await.unwrap();
    rig.project("/repo/.git").await;
    let mut waits = Vec::new();
    for n in 0..9 {
        while !silent(&watch).await {}
        let waiting = async {
            let wait = rung(&watch).await;
            (wait, elsewhere.export(None).await.len())
        };
        let drafts = rig.drafts(1).await;
        let ((wait, seen), _) = tokio::join!(waiting, rig.add(drafts));
        assert_eq!(seen, n + 1, "what the ring is about is there to be seen");
        waits.push(wait);
    }
    waits.sort_unstable();
    let (median, longest) = (waits[waits.len() / 2], waits[waits.len() - 1]);
    println!("woken after {median:?} (median), {longest:?} (longest)");
    assert!(median < GENEROUS, "woken after {median:?}");
    assert_eq!(rig.kinds().await.len(), 10);
}

async fn a_change_before_the_wait_is_not_lost(rig: &Rig) {
    let elsewhere = rig.elsewhere().await;
    let (first, second) = (elsewhere.store.watch().await.unwrap(), elsewhere.store.watch().await.unwrap());
    rig.task("one").await;
    for watch in [&first, &second] {
        rung(watch).await;
    }
    drop(first);
    while !silent(&second).await {}
    rig.task("two").await;
    rung(&second).await;
    assert_eq!(rig.kinds().await, ["project.added", "task.added", "task.added"]);
}

/// Everything that a runner does on its rounds when there is nothing to do. If any of it rang, idle runners
/// would wake each other for ever.
async fn idle_round(rig: &Rig, run: &Run) {
    rig.ok(RenewLease { run: run.id, attempt: run.attempt, lease: LEASE, now: rig.now() }).await;
    assert!(rig.claim(3).await.is_empty());
    assert!(rig.ok(rig.expiring()).await.is_empty());
    rig.ok(GetTask { id: run.task }).await;
    assert_eq!(rig.events_since(0).await.len(), 3);
    let refused = rig.store.call(rig.moving(run.task, TaskMove::Release)).await;
    assert!(matches!(refused, Err(StoreError::Illegal { .. })));
}

async fn what_changes_nothing_wakes_nobody(rig: &Rig) {
    let id = rig.task("one").await;
    let run = rig.start(id).await;
    let elsewhere = rig.elsewhere().await;
    let watch = elsewhere.store.watch().await.unwrap();
    let mut quiet = false;
    // More than one try: a ring of the beginning may be late. What rings by itself is never silent.
    for _ in 0..5 {
        while !silent(&watch).await {}
        let newcomer = rig.elsewhere().await;
        idle_round(rig, &run).await;
        idle_round(&newcomer, &run).await;
        let _watching = newcomer.store.watch().await.unwrap();
        quiet = silent(&watch).await;
        if quiet {
            break;
        }
    }
    assert!(quiet, "something rings although nothing changes");
    rig.moved(id, TaskMove::Cancel).await;
    rung(&watch).await;
    assert_eq!(rig.kinds().await, ["project.added", "task.added", "task.started", "task.cancelled"]);
}
