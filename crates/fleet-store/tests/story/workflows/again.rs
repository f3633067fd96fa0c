//! Workflows that are tried again, as a whole or in part.

use fleet_core::outcome::RunResult;
use fleet_core::task::{TaskMove, TaskState};
use fleet_core::workflow::{Copies, OnFailure, PartState, Returns, Spec};
use fleet_store::StoreError;

use super::acts::{result, spec, stage};
use crate::harness::Rig;

story! {
    a_failed_stage_that_is_retried_brings_its_workflow_back
    a_prompt_brings_a_failed_stage_back
    in_a_hurry_all_that_was_stopped_is_tried_again
    what_was_tolerated_can_be_tried_again
    all_that_failed_is_tried_again
    a_cancelled_workflow_goes_on
    a_stage_and_what_builds_on_it_are_done_once_more
    a_list_is_counted_out_again
    what_cannot_be_tried_again_is_refused
}

use PartState::{Cancelled, Done, Failed};

async fn a_failed_stage_that_is_retried_brings_its_workflow_back(rig: &Rig) {
    let id = rig.workflow(spec(vec![stage("a", &[]), stage("b", &[0]), stage("c", &[1])])).await;
    rig.play(id, &[("a", Failed)]).await;
    assert_eq!(rig.shown(id).await, "failed: a failed, b skipped: over, c skipped: over");
    let task = rig.task_of(id, "a").await;
    rig.moved(task, TaskMove::Retry).await;
    assert_eq!(rig.shown(id).await, "running: a running, b pending, c pending");
    let workflow = rig.workflow_detail(id).await.workflow;
    assert_eq!((workflow.ended_at, workflow.why), (None, None));
    rig.play(id, &[("a", Done), ("b", Failed)]).await;
    rig.moved(rig.task_of(id, "b").await, TaskMove::Retry).await;
    rig.play(id, &[("b", Done), ("c", Done)]).await;
    assert_eq!(rig.shown(id).await, "succeeded: a done, b done, c done");
    assert_eq!(rig.task_of(id, "a").await, task, "a task that is retried is the same task");
}

async fn a_prompt_brings_a_failed_stage_back(rig: &Rig) {
    let id = rig.workflow(spec(vec![stage("a", &[]), stage("b", &[0])])).await;
    rig.play(id, &[("a", Failed)]).await;
    let task = rig.task_of(id, "a").await;
    rig.ok(rig.saying(task, "try the other way")).await;
    assert_eq!(rig.shown(id).await, "running: a running, b pending");
}

async fn in_a_hurry_all_that_was_stopped_is_tried_again(rig: &Rig) {
    let stages = vec![stage("a", &[]), stage("b", &[]), stage("c", &[0, 1])];
    let id = rig.workflow(Spec { fail_fast: true, ..spec(stages) }).await;
    let task = rig.task_of(id, "a").await;
    for by in ["a retry", "a prompt"] {
        rig.play(id, &[("a", Failed), ("b", Cancelled)]).await;
        assert_eq!(rig.shown(id).await, "failed: a failed, b cancelled, c skipped: over", "{by}");
        match by {
            "a retry" => drop(rig.moved(task, TaskMove::Retry).await),
            _ => drop(rig.ok(rig.saying(task, "try the other way")).await),
        }
        assert_eq!(rig.shown(id).await, "running: a running, b running, c pending", "{by}");
    }
    rig.play(id, &[("a", Done), ("b", Done), ("c", Done)]).await;
    assert_eq!(rig.shown(id).await, "succeeded: a done, b done, c done");
}

async fn what_was_tolerated_can_be_tried_again(rig: &Rig) {
    let mut stages = vec![stage("a", &[]), stage("b", &[0]), stage("c", &[])];
    stages[0].on_failure = OnFailure::SkipDependents;
    let id = rig.workflow(spec(stages)).await;
    rig.play(id, &[("a", Failed), ("c", Done)]).await;
    assert_eq!(rig.shown(id).await, "succeeded: a failed, b skipped: upstream, c done");
    rig.moved(rig.task_of(id, "a").await, TaskMove::Retry).await;
    rig.play(id, &[("a", Done), ("b", Done)]).await;
    assert_eq!(rig.shown(id).await, "succeeded: a done, b done, c done");
}

async fn all_that_failed_is_tried_again(rig: &Rig) {
    let id = rig.workflow(spec(vec![stage("a", &[]), stage("b", &[]), stage("c", &[0, 1])])).await;
    rig.play(id, &[("a", Failed), ("b", Cancelled)]).await;
    assert_eq!(rig.shown(id).await, "failed: a failed, b cancelled, c skipped: over");
    let a = rig.task_of(id, "a").await;
    rig.ok(rig.retrying(id, None)).await;
    assert_eq!(rig.shown(id).await, "running: a running, b running, c pending");
    let task = rig.get(a).await.task;
    assert_eq!((task.state(), task.history.failures), (TaskState::Queued, 0));
    rig.play(id, &[("a", Done), ("b", Done), ("c", Done)]).await;
    assert_eq!(rig.shown(id).await, "succeeded: a done, b done, c done");
}

async fn a_cancelled_workflow_goes_on(rig: &Rig) {
    let id = rig.workflow(spec(vec![stage("a", &[]), stage("b", &[0])])).await;
    rig.ok(rig.cancelling(id)).await;
    rig.ok(rig.retrying(id, None)).await;
    assert_eq!(rig.shown(id).await, "running: a running, b pending");
    let run = rig.run_of(id, "a").await;
    rig.ok(rig.cancelling(id)).await;
    rig.ok(rig.ending_as(&run, Cancelled)).await;
    rig.moved(rig.task_of(id, "a").await, TaskMove::Retry).await;
    assert_eq!(rig.shown(id).await, "running: a running, b pending", "one stage brings all of it back");
    let error = rig.refused(rig.retrying(id, None)).await;
    assert!(matches!(error, StoreError::IllegalWorkflow { .. }), "{error}");
}

async fn a_stage_and_what_builds_on_it_are_done_once_more(rig: &Rig) {
    let id = rig.workflow(spec(vec![stage("a", &[]), stage("b", &[0]), stage("c", &[1])])).await;
    rig.play(id, &[("a", Done), ("b", Done), ("c", Done)]).await;
    let old = rig.task_of(id, "b").await;
    rig.ok(rig.retrying(id, Some("b"))).await;
    assert_eq!(rig.shown(id).await, "running: a done, (b done), (c done), b running, c pending");
    assert_ne!(rig.task_of(id, "b").await, old, "it begins from nothing");
    rig.ok(rig.saying(old, "and this")).await;
    rig.play(id, &[("b", Done), ("c", Failed)]).await;
    assert_eq!(rig.shown(id).await, "failed: a done, (b done), (c done), b done, c failed");
    rig.ok(rig.retrying(id, None)).await;
    rig.play(id, &[("c", Done)]).await;
    assert_eq!(rig.shown(id).await, "succeeded: a done, (b done), (c done), b done, c done");
}

async fn a_list_is_counted_out_again(rig: &Rig) {
    let mut stages = vec![stage("plan", &[]), stage("work", &[0]), stage("join", &[1])];
    stages[0].returns = Returns::List;
    stages[1].copies = Copies::EachOf(0);
    let id = rig.workflow(spec(stages)).await;
    rig.play(id, &[("plan", Failed)]).await;
    assert_eq!(rig.shown(id).await, "failed: plan failed, join skipped: over");
    rig.ok(rig.retrying(id, None)).await;
    let list = |items: &[&str]| {
        let items = items.iter().map(|item| (*item).to_owned()).collect();
        (Done, RunResult { items, ..result() })
    };
    rig.play_with(id, "plan", list(&["x", "y"])).await;
    rig.play(id, &[("work-1", Done), ("work-2", Done), ("join", Done)]).await;
    rig.ok(rig.retrying(id, Some("plan"))).await;
    rig.play_with(id, "plan", list(&["z"])).await;
    let before = "(plan done), (join done), (work-1 done), (work-2 done)";
    assert_eq!(rig.shown(id).await, format!("running: {before}, plan done, join pending, work-1 running"));
    rig.play(id, &[("work-1", Done), ("join", Done)]).await;
    assert!(rig.shown(id).await.starts_with("succeeded"));
}

async fn what_cannot_be_tried_again_is_refused(rig: &Rig) {
    let id = rig.workflow(spec(vec![stage("a", &[])])).await;
    let error = rig.refused(rig.retrying(id, Some("b"))).await;
    assert_eq!(error.to_string(), format!("workflow {id} has no stage b; it has a"));
    rig.play(id, &[("a", Done)]).await;
    let error = rig.refused(rig.retrying(id, None)).await;
    assert_eq!(error.to_string(), format!("workflow {id} has already succeeded"));
}
