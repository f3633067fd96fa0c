//! Leases: who holds one may act, who lost it changes nothing.

use std::collections::BTreeSet;
use std::time::Duration;

use fleet_core::Machine as _;
use fleet_core::event::Fact;
use fleet_core::id::RunId;
use fleet_core::run::{Ending, Reason, Run, RunMove, RunState};
use fleet_core::task::{Task, TaskMove, TaskState};
use fleet_store::StoreError;
use fleet_store::ops::{All, Claim, ExpireLeases, LiveRuns, OtherPlaces, Prepared};

use crate::harness::{HERE, LEASE, Rig, together};

story! {
    a_renewed_lease_does_not_expire
    several_leases_are_renewed_together_or_not_at_all
    an_expired_lease_queues_the_task_again
    a_keeper_that_lost_its_lease_changes_nothing
    a_wrong_fencing_number_changes_nothing
    runs_move_in_order_only
    an_unknown_run_is_named
    an_expiry_takes_no_more_than_its_limit
    each_place_looks_after_its_own
    many_who_expire_leases_end_each_run_once
    a_renewal_and_an_expiry_that_meet_agree
}

async fn a_renewed_lease_does_not_expire(rig: &Rig) {
    let id = rig.task("one").await;
    let run = rig.start(id).await;
    rig.news().await;
    let before = rig.get(id).await.task;
    for _ in 0..5 {
        rig.pass(LEASE);
        assert!(rig.ok(rig.expiring()).await.is_empty(), "its last moment still belongs to the keeper");
        rig.ok(rig.renewing(&run)).await;
        assert_eq!(rig.get(id).await.runs[0].lease_until, rig.now().plus(LEASE));
    }
    assert_eq!(rig.get(id).await.task, before, "a renewal is no change of the task");
    assert!(rig.news().await.is_empty(), "and no event");
    rig.pass(LEASE + Duration::from_millis(1));
    let ended = rig.ok(rig.expiring()).await;
    assert_eq!(ended.iter().map(|(task, run)| (task.id, *run)).collect::<Vec<_>>(), [(id, run.id)]);
    assert_eq!(rig.kinds().await, ["task.requeued"]);
}

async fn several_leases_are_renewed_together_or_not_at_all(rig: &Rig) {
    rig.tasks(3).await;
    let runs: Vec<Run> = rig.claim(3).await.into_iter().map(|claimed| claimed.run).collect();
    rig.pass(LEASE);
    rig.ok(All(runs.iter().map(|run| rig.renewing(run)).collect())).await;
    for run in &runs {
        assert_eq!(rig.get(run.task).await.runs[0].lease_until, rig.now().plus(LEASE));
    }
    rig.moved(runs[1].task, TaskMove::Cancel).await;
    rig.pass(LEASE);
    let error = rig.refused(All(runs.iter().map(|run| rig.renewing(run)).collect())).await;
    assert!(matches!(error, StoreError::LeaseLost { run } if run == runs[1].id), "{error}");
    let kinds = rig.kinds().await;
    assert_eq!(kinds[4..], ["task.started", "task.started", "task.started", "task.cancelled"]);
}

async fn an_expired_lease_queues_the_task_again(rig: &Rig) {
    let id = rig.task("one").await;
    for failures in 1..=3 {
        let run = rig.start(id).await;
        if failures > 1 {
            rig.ok(rig.advancing(&run, RunMove::Start)).await;
        }
        rig.pass(LEASE + Duration::from_secs(1));
        rig.news().await;
        let (task, ended) = rig.ok(rig.expiring()).await.pop().unwrap();
        assert_eq!((task.id, ended), (id, run.id));
        assert_eq!(rig.get(id).await.task.state(), task.state());
        assert_eq!((task.history.failures, task.history.reason), (failures, Some(Reason::Lost)));
        let lost = rig.get(id).await.runs.pop().unwrap();
        assert_eq!(
            (lost.state(), lost.reason, lost.ended_at),
            (RunState::Lost, Some(Reason::Lost), Some(rig.now()))
        );
        let detail = lost.detail.unwrap();
        assert_eq!(task.history.remark.as_ref(), Some(&detail));
        let (reason, wait) = (Reason::Lost, Duration::from_secs(10 << (failures - 1)));
        let told = if failures == 3 {
            assert_eq!(task.state(), TaskState::Failed, "two retries by default");
            Fact::TaskFailed { reason, detail, failures }
        } else {
            let not_before = Some(rig.now().plus(wait));
            assert_eq!((task.state(), task.history.retry_at), (TaskState::Queued, not_before));
            Fact::TaskRequeued { reason: Some(reason), detail, failures, not_before }
        };
        assert_eq!(rig.facts().await, [told]);
        assert!(rig.claim(1).await.is_empty(), "not before the wait is over");
        rig.pass(wait);
    }
}

/// Everything that a keeper may try.
async fn all_refused(rig: &Rig, run: &Run) {
    let lost = |error: StoreError| {
        assert!(matches!(error, StoreError::LeaseLost { run: named } if named == run.id), "{error}");
    };
    lost(rig.refused(rig.renewing(run)).await);
    for event in [RunMove::Start, RunMove::Exit] {
        lost(rig.refused(rig.advancing(run, event)).await);
    }
    let failed = Ending::Failed(Reason::AgentError, "late".to_owned());
    let (released, cancelled) = (Ending::Released("late".to_owned()), Ending::Cancelled("late".to_owned()));
    for ending in [Ending::Succeeded, Ending::Asked, failed, released, cancelled] {
        lost(rig.refused(rig.ending(run, ending)).await);
    }
    let keeper = Prepared { keeper: Some("late".to_owned()), ..Prepared::default() };
    lost(rig.refused(rig.preparing(run, keeper)).await);
}

async fn a_keeper_that_lost_its_lease_changes_nothing(rig: &Rig) {
    let id = rig.task("one").await;
    let old = rig.start(id).await;
    rig.work(&old).await;
    rig.pass(LEASE * 2);
    rig.ok(rig.expiring()).await;
    all_refused(rig, &old).await;
    rig.pass(Duration::from_secs(10));
    let new = rig.start(id).await;
    assert_eq!((old.attempt, new.attempt), (1, 2));
    all_refused(rig, &old).await;
    rig.succeed(&new).await;
    all_refused(rig, &old).await;
    rig.pass(Duration::from_millis(1));
    all_refused(rig, &new).await;
    let kinds = rig.kinds().await;
    let expected = [
        "task.started",
        "run.moved",
        "run.moved",
        "task.requeued",
        "task.started",
        "run.moved",
        "run.moved",
        "task.done",
    ];
    assert_eq!(kinds[2..], expected);
}

async fn a_wrong_fencing_number_changes_nothing(rig: &Rig) {
    let id = rig.task("one").await;
    let run = rig.start(id).await;
    rig.end(&run, Ending::Released("again".to_owned())).await;
    let run = rig.start(id).await;
    for attempt in [1, 3, 0, -1, i64::MAX] {
        all_refused(rig, &Run { attempt, ..run.clone() }).await;
    }
    rig.succeed(&run).await;
    assert_eq!(rig.kinds().await.last().map(String::as_str), Some("task.done"));
}

async fn runs_move_in_order_only(rig: &Rig) {
    let id = rig.task("one").await;
    let run = rig.start(id).await;
    rig.news().await;
    let mut state = RunState::Preparing;
    for step in [RunMove::Start, RunMove::Exit] {
        for event in RunMove::ALL.iter().copied().filter(|event| *event != step) {
            let error = rig.refused(rig.advancing(&run, event)).await;
            let told = matches!(error, StoreError::IllegalRun { run: named, from, event: refused }
                if named == run.id && from == state && refused == event);
            assert!(told, "a {state} run cannot {event}: {error}");
        }
        for ending in [Ending::Succeeded, Ending::Asked] {
            let error = rig.refused(rig.ending(&run, ending)).await;
            assert!(matches!(error, StoreError::IllegalRun { event: RunMove::Succeed, .. }), "{error}");
        }
        state = state.next(step).unwrap();
        assert_eq!(rig.ok(rig.advancing(&run, step)).await, state);
        assert_eq!(rig.get(id).await.runs[0].state, state);
        let news = rig.news().await;
        assert_eq!(
            news.iter().map(|event| event.fact.clone()).collect::<Vec<_>>(),
            [Fact::RunMoved { state }]
        );
        let subject = news[0].subject;
        assert_eq!((subject.task, subject.run, subject.project.is_some()), (Some(id), Some(run.id), true));
    }
    rig.end(&run, Ending::Succeeded).await;
    assert_eq!(rig.kinds().await, ["task.done"]);
}

async fn an_unknown_run_is_named(rig: &Rig) {
    let id = rig.task("one").await;
    let run = Run { id: rig.id(), ..rig.start(id).await };
    let unknown = |error: StoreError| {
        assert!(matches!(&error, StoreError::RunNotFound(text) if *text == run.id.to_string()), "{error}");
    };
    unknown(rig.refused(rig.advancing(&run, RunMove::Start)).await);
    unknown(rig.refused(rig.ending(&run, Ending::Succeeded)).await);
    let error = rig.refused(rig.renewing(&run)).await;
    assert!(matches!(error, StoreError::LeaseLost { .. }), "the answer must not cost a second look: {error}");
}

async fn an_expiry_takes_no_more_than_its_limit(rig: &Rig) {
    rig.tasks(5).await;
    rig.claim(5).await;
    rig.pass(LEASE * 2);
    let some = ExpireLeases { limit: 2, ..rig.expiring() };
    let mut left = Vec::new();
    for _ in 0..4 {
        left.push(rig.ok(some.clone()).await.len());
    }
    assert_eq!(left, [2, 2, 1, 0]);
    assert_eq!(rig.kinds().await.iter().filter(|kind| *kind == "task.requeued").count(), 5);
}

async fn each_place_looks_after_its_own(rig: &Rig) {
    let ids = rig.tasks(2).await;
    let here = rig.start(ids[0]).await;
    let there = Claim { place: "there".to_owned(), ..rig.claiming(1) };
    let there = rig.ok(there).await.pop().unwrap().run;
    let grace = Duration::from_secs(90);
    let seen_from = |place: &str| {
        let elsewhere = Some(OtherPlaces { here: place.to_owned(), grace });
        ExpireLeases { elsewhere, ..rig.expiring() }
    };
    rig.pass(LEASE + grace);
    assert!(rig.ok(seen_from(HERE)).await.is_empty(), "the grace is not over");
    rig.pass(Duration::from_millis(1));
    let ended = |ended: Vec<(Task, RunId)>| ended.into_iter().map(|(_, run)| run).collect::<Vec<_>>();
    assert_eq!(ended(rig.ok(seen_from(HERE)).await), [there.id]);
    assert_eq!(rig.ok(LiveRuns { place: HERE.to_owned() }).await, rig.get(ids[0]).await.runs);
    assert!(rig.ok(LiveRuns { place: "there".to_owned() }).await.is_empty());
    assert_eq!(ended(rig.ok(seen_from("there")).await), [here.id], "nobody looked after it");
    assert_eq!(rig.kinds().await[5..], ["task.requeued", "task.requeued"]);
}

async fn many_who_expire_leases_end_each_run_once(rig: &Rig) {
    rig.tasks(60).await;
    let claimed = rig.claim(60).await;
    rig.pass(LEASE * 2);
    rig.news().await;
    let elsewhere = rig.elsewhere().await;
    let expirers = [rig.clone(), elsewhere].into_iter().cycle().take(16).map(|rig| async move {
        let mut ended = Vec::new();
        for _ in 0..6 {
            let some = rig.ok(ExpireLeases { limit: 10, ..rig.expiring() }).await;
            ended.extend(some.into_iter().map(|(_, run)| run));
        }
        ended
    });
    let ended: Vec<RunId> = together(expirers).await.into_iter().flatten().collect();
    let runs: BTreeSet<RunId> = claimed.iter().map(|claimed| claimed.run.id).collect();
    assert_eq!(ended.len(), 60, "none twice");
    assert_eq!(ended.into_iter().collect::<BTreeSet<_>>(), runs, "none left");
    assert_eq!(rig.kinds().await, vec!["task.requeued"; 60]);
}

async fn a_renewal_and_an_expiry_that_meet_agree(rig: &Rig) {
    rig.tasks(60).await;
    let claimed = rig.claim(60).await;
    rig.pass(LEASE * 2);
    let elsewhere = rig.elsewhere().await;
    let expire = tokio::spawn({
        let rig = elsewhere;
        async move { rig.ok(rig.expiring()).await }
    });
    let renewals = together(claimed.iter().map(|claimed| {
        let (rig, renew) = (rig.clone(), rig.renewing(&claimed.run));
        async move { rig.store.call(renew).await }
    }))
    .await;
    let expired: BTreeSet<RunId> = expire.await.unwrap().into_iter().map(|(_, run)| run).collect();
    for (claimed, renewed) in claimed.iter().zip(renewals) {
        let state = rig.state(claimed.task.id).await;
        match renewed {
            Ok(_) if state == TaskState::Running => assert!(!expired.contains(&claimed.run.id)),
            // Renewed with an attempt number that still held, then cancelled by nobody: it must run.
            Ok(_) => panic!("a renewed run was ended"),
            Err(StoreError::LeaseLost { .. }) => {
                assert!(expired.contains(&claimed.run.id) && state == TaskState::Queued);
            }
            Err(error) => panic!("{error}"),
        }
        if state == TaskState::Running {
            rig.moved(claimed.task.id, TaskMove::Cancel).await;
        }
    }
    assert_eq!(rig.kinds().await.iter().filter(|kind| *kind == "task.requeued").count(), expired.len());
}
