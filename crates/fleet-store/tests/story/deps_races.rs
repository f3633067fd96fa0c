//! Dependencies that change while others change them, or finish what they are about.

use std::collections::BTreeMap;

use fleet_core::deps::Edge;
use fleet_core::id::TaskId;
use fleet_core::run::Ending;
use fleet_core::task::TaskState;
use fleet_store::ops::Claimed;
use fleet_store::{Op, StoreError};

use crate::harness::{Rig, together};

story! {
    of_two_who_would_close_a_circle_one_is_refused
    of_two_who_would_close_a_long_circle_one_is_refused
    a_dependency_added_while_its_target_finishes_is_counted_rightly
    a_dependency_removed_while_its_target_finishes_is_counted_rightly
    tasks_added_while_their_dependencies_finish_are_counted_rightly
    a_dependency_added_while_its_target_is_deleted_is_there_or_not
    tasks_with_the_same_dependents_finish_at_once
}

const ROUNDS: usize = 200;

/// Adds both edges of each pair at the same time: one is refused, and says why.
async fn only_one_of_each(rig: &Rig, pairs: &[[Edge; 2]]) {
    let elsewhere = rig.elsewhere().await;
    let answers = together(pairs.iter().flat_map(|[one, other]| {
        [(rig.clone(), *one), (elsewhere.clone(), *other)]
            .map(|(rig, edge)| async move { rig.store.call(rig.depending(edge.task, edge.on)).await })
    }))
    .await;
    for (both, [one, other]) in answers.chunks(2).zip(pairs) {
        let (won, lost): (Vec<_>, Vec<_>) = both.iter().partition(|answer| answer.is_ok());
        assert_eq!((won.len(), lost.len()), (1, 1), "{both:?}");
        let Err(StoreError::Cycle { path }) = lost[0] else { panic!("{lost:?}") };
        let named = |edge: &Edge| path.contains(&edge.task) && path.contains(&edge.on);
        assert!(named(one) && named(other), "{path:?}");
    }
}

async fn of_two_who_would_close_a_circle_one_is_refused(rig: &Rig) {
    let ids = rig.tasks(60).await;
    let edge = |task, on| Edge { task, on };
    let pairs: Vec<_> = ids.chunks(2).map(|t| [edge(t[0], t[1]), edge(t[1], t[0])]).collect();
    only_one_of_each(rig, &pairs).await;
    assert_eq!(count_of(rig, "task.dependency_added").await, 30);
}

/// The two edges have no task in common: no lock on a row lets the one know of the other.
async fn of_two_who_would_close_a_long_circle_one_is_refused(rig: &Rig) {
    let mut drafts = rig.drafts(120).await;
    for four in drafts.chunks_mut(4) {
        four[1].after = vec![four[2].id];
        four[3].after = vec![four[0].id];
    }
    let ids = rig.add(drafts).await;
    let edge = |task, on| Edge { task, on };
    let pairs: Vec<_> = ids.chunks(4).map(|t| [edge(t[0], t[1]), edge(t[2], t[3])]).collect();
    only_one_of_each(rig, &pairs).await;
    assert_eq!(count_of(rig, "task.dependency_added").await, 30);
}

/// Tasks whose runs are about to succeed, and as many that wait for nothing yet.
async fn nearly_done(rig: &Rig, count: usize) -> (Vec<Claimed>, Vec<TaskId>) {
    rig.tasks(count).await;
    let claimed = rig.claim(count).await;
    assert_eq!(claimed.len(), count);
    together(claimed.iter().map(|claimed| {
        let (rig, run) = (rig.clone(), claimed.run.clone());
        async move { rig.work(&run).await }
    }))
    .await;
    (claimed, rig.tasks(count).await)
}

/// Ends every run well, at the same time as the operation that `meanwhile` makes for it runs elsewhere.
async fn race<O: Op>(
    rig: &Rig,
    claimed: &[Claimed],
    meanwhile: impl Fn(usize) -> O,
) -> Vec<Result<O::Out, StoreError>> {
    let elsewhere = rig.elsewhere().await;
    together(claimed.iter().enumerate().map(|(at, claimed)| {
        let (rig, elsewhere) = (rig.clone(), elsewhere.clone());
        let (end, op) = (rig.ending(&claimed.run, Ending::Succeeded), meanwhile(at));
        async move {
            let (ended, answer) = tokio::join!(rig.store.call(end), elsewhere.store.call(op));
            ended.expect("the run ends well");
            answer
        }
    }))
    .await
}

async fn count_of(rig: &Rig, kind: &str) -> usize {
    rig.kinds().await.iter().filter(|other| *other == kind).count()
}

/// Everything that is waited for is done, so nobody may wait.
async fn nobody_waits(rig: &Rig) {
    let waiting: Vec<_> =
        rig.export(None).await.into_iter().filter(|(task, _)| task.open_deps != 0).collect();
    assert!(waiting.is_empty(), "{waiting:#?}");
}

async fn a_dependency_added_while_its_target_finishes_is_counted_rightly(rig: &Rig) {
    let (claimed, waiting) = nearly_done(rig, ROUNDS).await;
    let answers = race(rig, &claimed, |at| rig.depending(waiting[at], claimed[at].task.id)).await;
    assert!(answers.iter().all(|answer| matches!(answer, Ok((_, true)))));
    nobody_waits(rig).await;
    assert_eq!(count_of(rig, "task.dependency_added").await, ROUNDS);
}

async fn a_dependency_removed_while_its_target_finishes_is_counted_rightly(rig: &Rig) {
    let (claimed, waiting) = nearly_done(rig, ROUNDS).await;
    let adding = claimed.iter().zip(&waiting).map(|(claimed, waiting)| {
        let (rig, op) = (rig.clone(), rig.depending(*waiting, claimed.task.id));
        async move { rig.ok(op).await }
    });
    together(adding).await;
    let answers = race(rig, &claimed, |at| rig.undepending(waiting[at], claimed[at].task.id)).await;
    assert!(answers.iter().all(Result::is_ok));
    nobody_waits(rig).await;
    assert_eq!(count_of(rig, "task.dependency_removed").await, ROUNDS);
}

async fn tasks_added_while_their_dependencies_finish_are_counted_rightly(rig: &Rig) {
    let (claimed, _) = nearly_done(rig, ROUNDS).await;
    let mut drafts: BTreeMap<usize, _> = rig.drafts(ROUNDS).await.into_iter().enumerate().collect();
    for (at, draft) in &mut drafts {
        // Each waits for two that finish at about the same moment, in both orders.
        let other = (at + ROUNDS / 2) % ROUNDS;
        draft.after = vec![claimed[*at].task.id, claimed[other].task.id];
    }
    let answers = race(rig, &claimed, |at| rig.adding(vec![drafts[&at].clone()])).await;
    assert!(answers.iter().all(Result::is_ok));
    nobody_waits(rig).await;
    assert_eq!(count_of(rig, "task.added").await, 3 * ROUNDS);
}

async fn a_dependency_added_while_its_target_is_deleted_is_there_or_not(rig: &Rig) {
    let elsewhere = rig.elsewhere().await;
    let ids = rig.tasks(200).await;
    let answers = together(ids.chunks(2).map(|pair| {
        let (rig, elsewhere) = (rig.clone(), elsewhere.clone());
        let (add, delete) = (rig.depending(pair[0], pair[1]), rig.deleting(pair[1]));
        async move { tokio::join!(rig.store.call(add), elsewhere.store.call(delete)) }
    }))
    .await;
    for (pair, (added, deleted)) in ids.chunks(2).zip(answers) {
        match (added, deleted) {
            (Ok(_), Err(StoreError::HasDependents { dependents, .. })) => assert_eq!(dependents, [pair[0]]),
            (Err(StoreError::TaskNotFound(text)), Ok(_)) => assert_eq!(text, pair[1].to_string()),
            other => panic!("{other:?}"),
        }
        assert_eq!(rig.state(pair[0]).await, TaskState::Queued);
    }
    let kinds = rig.kinds().await;
    let count = |kind: &str| kinds.iter().filter(|other| *other == kind).count();
    assert_eq!(count("task.dependency_added") + count("task.deleted"), 100);
}

async fn tasks_with_the_same_dependents_finish_at_once(rig: &Rig) {
    let (claimed, others) = nearly_done(rig, 40).await;
    let mut drafts = rig.drafts(40).await;
    for (at, draft) in drafts.iter_mut().enumerate() {
        // In many orders, so that the rows of the edges lie in many orders, too.
        let round = claimed.iter().map(|claimed| claimed.task.id).cycle();
        draft.after = round.skip(at * 7).take(40).collect();
    }
    rig.add(drafts).await;
    assert_eq!(rig.claim(100).await.len(), others.len(), "all others wait");
    together(claimed.iter().map(|claimed| {
        let (rig, end) = (rig.clone(), rig.ending(&claimed.run, Ending::Succeeded));
        async move { rig.ok(end).await }
    }))
    .await;
    nobody_waits(rig).await;
    assert_eq!(count_of(rig, "task.done").await, 40);
}
