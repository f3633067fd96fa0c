//! Workflows that somebody does not want any more, whenever that is.

use fleet_core::run::{Ending, Reason, RunState};
use fleet_core::task::{Remark, TaskMove, TaskState};
use fleet_core::workflow::{PartState, Spec, WorkflowState};
use fleet_store::StoreError;
use fleet_store::ops::{CancelIdle, CancelWorkflow};

use super::acts::{spec, stage};
use crate::harness::{Rig, together};

story! {
    a_workflow_is_cancelled_before_anybody_works_on_it
    a_workflow_is_cancelled_while_stages_run
    a_run_that_ends_by_itself_after_the_stop_is_not_tried_again
    what_is_held_or_waits_for_an_answer_ends_at_once
    only_what_is_not_over_can_be_cancelled
    a_stage_that_goes_on_after_it_was_done_is_stopped_too
    a_stage_that_is_cancelled_alone_is_noticed
    a_cancellation_meets_claims
    a_cancellation_meets_ends
}

use PartState::{Cancelled, Done, Failed};

async fn a_workflow_is_cancelled_before_anybody_works_on_it(rig: &Rig) {
    let id = rig.workflow(spec(vec![stage("a", &[]), stage("b", &[0])])).await;
    let task = rig.task_of(id, "a").await;
    let why: Remark = "wrong file".parse().unwrap();
    let cancelled = rig.ok(CancelWorkflow { why: Some(why), ..rig.cancelling(id) }).await;
    assert_eq!((cancelled.workflow.state(), cancelled.runs.len()), (WorkflowState::Cancelled, 0));
    assert_eq!(cancelled.workflow.why.as_deref(), Some("wrong file"));
    assert_eq!(rig.shown(id).await, "cancelled: a cancelled, b cancelled");
    let task = rig.get(task).await.task;
    assert_eq!((task.state(), task.history.remark.as_deref()), (TaskState::Cancelled, Some("wrong file")));
    let kinds = rig.kinds().await;
    let expected = [
        "workflow.cancelling",
        "task.cancelled",
        "workflow.stage_moved",
        "workflow.stage_moved",
        "workflow.ended",
    ];
    assert_eq!(kinds[kinds.len() - 5..], expected);
    assert!(rig.claim_all().await.is_empty());
}

async fn a_workflow_is_cancelled_while_stages_run(rig: &Rig) {
    let id = rig.workflow(spec(vec![stage("a", &[]), stage("b", &[]), stage("c", &[0, 1])])).await;
    let runs = rig.claim_all().await;
    let (a, b) = (&runs[&rig.task_of(id, "a").await], &runs[&rig.task_of(id, "b").await]);
    let asked = rig.ok(rig.cancelling(id)).await;
    assert_eq!(
        (asked.workflow.state(), asked.runs.as_slice()),
        (WorkflowState::Cancelling, &[a.id, b.id][..])
    );
    assert_eq!(rig.shown(id).await, "cancelling: a running, b running, c cancelled");
    for run in [a, b] {
        let stop = rig.ok(rig.renewing(run)).await.stop.expect("its keeper learns of it");
        assert_eq!(stop.why, "its workflow was cancelled");
    }
    let again = rig.ok(rig.cancelling(id)).await;
    assert_eq!(again.runs, asked.runs, "asking again tells whom to wake");
    rig.ok(rig.ending_as(a, Cancelled)).await;
    rig.work(b).await;
    rig.ok(rig.ending_as(b, Done)).await;
    assert_eq!(rig.shown(id).await, "cancelled: a cancelled, b done, c cancelled");
    let once = rig.kinds().await.iter().filter(|kind| *kind == "run.stopping").count();
    assert_eq!(once, 2, "each is asked once");
}

/// Its agent failed, asked or was interrupted while the order was on its way.
async fn a_run_that_ends_by_itself_after_the_stop_is_not_tried_again(rig: &Rig) {
    let endings = [
        Ending::Failed(Reason::AgentError, "broke".to_owned()),
        Ending::Failed(Reason::Lost, "gone".to_owned()),
        Ending::Asked,
        Ending::Released("shutdown".to_owned()),
    ];
    for ending in endings {
        let mut patient = stage("a", &[]);
        patient.retries = Some(2);
        let id = rig.workflow(spec(vec![patient.clone(), stage("b", &[0])])).await;
        let run = rig.run_of(id, "a").await;
        rig.work(&run).await;
        rig.ok(rig.cancelling(id)).await;
        rig.end(&run, ending.clone()).await;
        assert_eq!(rig.shown(id).await, "cancelled: a cancelled, b cancelled", "{ending:?}");
        let task = rig.get(rig.task_of(id, "a").await).await.task;
        assert_eq!(
            (task.state(), task.history.remark.as_deref(), task.history.retry_at),
            (TaskState::Cancelled, Some("its workflow was cancelled"), None),
            "{ending:?}"
        );

        let hasty = Spec { fail_fast: true, ..spec(vec![patient, stage("c", &[])]) };
        let id = rig.workflow(hasty).await;
        let runs = rig.claim_all().await;
        let (a, c) = (&runs[&rig.task_of(id, "a").await], &runs[&rig.task_of(id, "c").await]);
        rig.work(a).await;
        rig.ok(rig.ending_as(c, Failed)).await;
        rig.end(a, ending.clone()).await;
        assert_eq!(rig.shown(id).await, "failed: a cancelled, c failed", "{ending:?}");
        assert!(rig.claim_all().await.is_empty(), "{ending:?}");
    }
}

async fn what_is_held_or_waits_for_an_answer_ends_at_once(rig: &Rig) {
    let id = rig.workflow(spec(vec![stage("a", &[]), stage("b", &[])])).await;
    rig.moved(rig.task_of(id, "a").await, TaskMove::Hold).await;
    let run = rig.run_of(id, "b").await;
    rig.work(&run).await;
    rig.end(&run, Ending::Asked).await;
    assert_eq!(rig.shown(id).await, "running: a running, b running");
    rig.ok(rig.cancelling(id)).await;
    assert_eq!(rig.shown(id).await, "cancelled: a cancelled, b cancelled");
}

async fn only_what_is_not_over_can_be_cancelled(rig: &Rig) {
    let id = rig.workflow(spec(vec![stage("a", &[])])).await;
    rig.play(id, &[("a", Done)]).await;
    let error = rig.refused(rig.cancelling(id)).await;
    assert_eq!(error.to_string(), format!("workflow {id} is succeeded: it cannot be cancelled"));
    let nobody = rig.id();
    assert!(matches!(rig.refused(rig.cancelling(nobody)).await, StoreError::WorkflowNotFound(_)));
}

async fn a_stage_that_goes_on_after_it_was_done_is_stopped_too(rig: &Rig) {
    let id = rig.workflow(spec(vec![stage("a", &[]), stage("b", &[0])])).await;
    rig.play(id, &[("a", Done)]).await;
    let task = rig.task_of(id, "a").await;
    rig.ok(rig.saying(task, "one more thing")).await;
    assert_eq!(rig.shown(id).await, "running: a done, b running", "what was done is not undone");
    let runs = rig.claim_all().await;
    let mut asked = rig.ok(rig.cancelling(id)).await.runs;
    let mut all: Vec<_> = runs.values().map(|run| run.id).collect();
    asked.sort_unstable();
    all.sort_unstable();
    assert_eq!(asked, all);
    for run in runs.values() {
        rig.ok(rig.ending_as(run, Cancelled)).await;
    }
    assert_eq!(rig.shown(id).await, "cancelled: a done, b cancelled");
}

async fn a_stage_that_is_cancelled_alone_is_noticed(rig: &Rig) {
    let id = rig.workflow(spec(vec![stage("a", &[]), stage("b", &[0])])).await;
    let cancel = CancelIdle { id: rig.task_of(id, "a").await, remark: None, now: rig.now() };
    rig.ok(cancel).await;
    assert_eq!(rig.shown(id).await, "failed: a cancelled, b skipped: over");
    let id = rig.workflow(spec(vec![stage("a", &[]), stage("b", &[0])])).await;
    let run = rig.run_of(id, "a").await;
    rig.moved(rig.task_of(id, "a").await, TaskMove::Cancel).await;
    assert_eq!(rig.shown(id).await, "failed: a cancelled, b skipped: over");
    assert_eq!(rig.detail(&run).await.run.state, RunState::Cancelled);
    let failed = rig.workflow(spec(vec![stage("a", &[])])).await;
    rig.play(failed, &[("a", Failed)]).await;
    rig.moved(rig.task_of(failed, "a").await, TaskMove::Cancel).await;
    assert_eq!(rig.shown(failed).await, "failed: a cancelled", "it is over as it was");
}

/// Whoever is first: no run of a cancelled workflow goes on without being asked to stop.
async fn a_cancellation_meets_claims(rig: &Rig) {
    let elsewhere = rig.elsewhere().await;
    for round in 0..20 {
        let wide: Vec<_> = (0..6).map(|n| stage(&format!("s{n}"), &[])).collect();
        let id = rig.workflow(spec(wide)).await;
        let claim = |rig: &Rig| {
            let (rig, slots) = (rig.clone(), 1 + round % 3);
            async move { rig.claim(slots).await }
        };
        let claims = together([rig, &elsewhere, rig, &elsewhere].map(claim));
        let (claims, cancelled) = tokio::join!(claims, elsewhere.store.call(elsewhere.cancelling(id)));
        let mut asked = cancelled.unwrap().runs;
        let claimed: Vec<_> = claims.into_iter().flatten().map(|claimed| claimed.run).collect();
        asked.sort_unstable();
        let mut runs: Vec<_> = claimed.iter().map(|run| run.id).collect();
        runs.sort_unstable();
        assert_eq!(asked, runs, "exactly those that had been claimed");
        assert!(rig.claim_all().await.is_empty(), "nothing is left in the queue");
        for run in &claimed {
            rig.ok(rig.ending_as(run, Cancelled)).await;
        }
        assert!(rig.shown(id).await.starts_with("cancelled"));
    }
}

async fn a_cancellation_meets_ends(rig: &Rig) {
    let elsewhere = rig.elsewhere().await;
    for _ in 0..15 {
        let mut stages: Vec<_> = (0..4).map(|n| stage(&format!("s{n}"), &[])).collect();
        stages.push(stage("join", &[0, 1, 2, 3]));
        let id = rig.workflow(spec(stages)).await;
        let runs = rig.claim_all().await;
        let ends = together(runs.values().map(|run| {
            let (rig, end) = (rig.clone(), rig.ending_as(run, Failed));
            async move { rig.store.call(end).await }
        }));
        let (ends, cancelled) = tokio::join!(ends, elsewhere.store.call(elsewhere.cancelling(id)));
        assert!(ends.iter().all(Result::is_ok), "{ends:?}");
        match cancelled {
            Ok(_) | Err(StoreError::IllegalWorkflow { .. }) => {}
            Err(error) => panic!("{error}"),
        }
        let state = rig.workflow_detail(id).await.workflow.state();
        assert!(matches!(state, WorkflowState::Failed | WorkflowState::Cancelled), "{state}");
    }
}
