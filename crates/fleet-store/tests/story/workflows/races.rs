//! Stages that end at the same moment.

use std::time::Duration;

use fleet_core::id::WorkflowId;
use fleet_core::run::Run;
use fleet_core::task::TaskState;
use fleet_core::workflow::{PartState, Spec};
use fleet_store::ops::{All, EndRun, ExpireLeases};

use super::acts::{spec, stage};
use crate::harness::{LEASE, Rig, together};

story! {
    of_siblings_that_end_at_once_one_starts_the_join
    fifty_stages_ended_by_eight_connections_join_once
    stages_that_are_lost_together_are_given_up_together
    hasty_siblings_that_fail_at_once_do_not_wait_for_each_other
    what_fails_in_the_middle_leaves_nothing_behind
}

use PartState::{Done, Failed};

async fn at_once(rigs: &[Rig], runs: &[Run], fate: PartState) {
    let ends = runs.iter().enumerate().map(|(at, run)| {
        let rig = rigs[at % rigs.len()].clone();
        let end = rig.ending_as(run, fate);
        async move { rig.ok(end).await }
    });
    together(ends).await;
}

async fn worked(rig: &Rig, count: usize) -> Vec<Run> {
    let runs: Vec<Run> = rig.claim_all().await.into_values().collect();
    assert_eq!(runs.len(), count);
    let work = runs.iter().cloned().map(|run| {
        let rig = rig.clone();
        async move { rig.work(&run).await }
    });
    together(work).await;
    runs
}

async fn tasks_of(rig: &Rig, id: WorkflowId, name: &str) -> usize {
    let title = format!("flow: {name}");
    let tasks = rig.export(None).await.into_iter().filter(|(task, _)| task.spec.title.as_str() == title);
    tasks.filter(|(task, _)| task.part.is_some_and(|part| part.workflow == id)).count()
}

async fn of_siblings_that_end_at_once_one_starts_the_join(rig: &Rig) {
    let rigs = [rig.clone(), rig.elsewhere().await];
    for round in 0..25 {
        let id = rig.workflow(spec(vec![stage("a", &[]), stage("b", &[]), stage("join", &[0, 1])])).await;
        let runs = worked(rig, 2).await;
        at_once(&rigs, &runs, Done).await;
        assert_eq!(rig.shown(id).await, "running: a done, b done, join running", "round {round}");
        assert_eq!(tasks_of(rig, id, "join").await, 1);
        rig.play(id, &[("join", Done)]).await;
    }
}

async fn fifty_stages_ended_by_eight_connections_join_once(rig: &Rig) {
    let mut rigs = vec![rig.clone()];
    for _ in 1..8 {
        rigs.push(rig.elsewhere().await);
    }
    let mut stages = vec![stage("root", &[])];
    stages.extend((0..50).map(|n| stage(&format!("s{n}"), &[0])));
    stages.push(stage("join", &(1..=50).collect::<Vec<_>>()));
    let id = rig.workflow(spec(stages)).await;
    rig.play(id, &[("root", Done)]).await;
    let runs = worked(rig, 50).await;
    at_once(&rigs, &runs, Done).await;
    assert_eq!(tasks_of(rig, id, "join").await, 1);
    rig.play(id, &[("join", Done)]).await;
    assert!(rig.shown(id).await.starts_with("succeeded"));
}

async fn stages_that_are_lost_together_are_given_up_together(rig: &Rig) {
    let mut rigs = vec![rig.clone()];
    for _ in 1..4 {
        rigs.push(rig.elsewhere().await);
    }
    let mut ids = Vec::new();
    for _ in 0..5 {
        let wide: Vec<_> = (0..6).map(|n| stage(&format!("s{n}"), &[])).collect();
        ids.push(rig.workflow(Spec { fail_fast: true, ..spec(wide) }).await);
    }
    let plain = rig.tasks(5).await;
    assert_eq!(rig.claim_all().await.len(), 35);
    rig.pass(LEASE * 2);
    // Each skips what another holds, so several rounds may be needed.
    let mut ended = 0;
    while ended < 35 {
        let expire = |rig: &Rig| {
            let (rig, some) = (rig.clone(), ExpireLeases { limit: 9, ..rig.expiring() });
            async move { rig.ok(some).await.len() }
        };
        ended += together(rigs.iter().map(expire)).await.iter().sum::<usize>();
    }
    for id in ids {
        let shown = rig.shown(id).await;
        assert!(shown.starts_with("failed") && !shown.contains("running"), "{shown}");
    }
    for task in plain {
        assert_eq!(rig.state(task).await, TaskState::Queued);
    }
}

async fn hasty_siblings_that_fail_at_once_do_not_wait_for_each_other(rig: &Rig) {
    let rigs = [rig.clone(), rig.elsewhere().await, rig.elsewhere().await];
    for _ in 0..15 {
        let wide: Vec<_> = (0..6).map(|n| stage(&format!("s{n}"), &[])).collect();
        let id = rig.workflow(Spec { fail_fast: true, ..spec(wide) }).await;
        let runs: Vec<Run> = rig.claim_all().await.into_values().collect();
        at_once(&rigs, &runs, Failed).await;
        assert!(rig.shown(id).await.starts_with("failed"));
    }
}

/// Two ends in one transaction, of which the second is refused: the join has not started, and nothing else has happened.
async fn what_fails_in_the_middle_leaves_nothing_behind(rig: &Rig) {
    let id = rig.workflow(spec(vec![stage("a", &[]), stage("b", &[0])])).await;
    let runs = worked(rig, 1).await;
    let end = rig.ending_as(&runs[0], Done);
    let another = EndRun { now: rig.now().plus(Duration::from_millis(1)), ..end.clone() };
    rig.refused(All(vec![end.clone(), another])).await;
    assert_eq!(rig.shown(id).await, "running: a running, b pending");
    rig.ok(end).await;
    assert_eq!(rig.shown(id).await, "running: a done, b running");
}
