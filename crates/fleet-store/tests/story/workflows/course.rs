//! From the first stage to the last.

use fleet_core::outcome::RunResult;
use fleet_core::report::Verdict;
use fleet_core::task::TaskState;
use fleet_core::workflow::{ChangeRule, Condition, Copies, OnFailure, PartState, Returns, Spec, StageStart};
use fleet_store::StoreError;

use super::acts::{BASE, no_retry, result, spec, stage};
use crate::harness::Rig;

story! {
    a_line_runs_from_its_beginning_to_its_end
    a_diamond_joins_when_both_sides_are_over
    failures_follow_the_policies_of_their_stages
    a_hasty_workflow_stops_what_runs_and_cancels_what_waits
    verdicts_and_lists_decide
    a_stage_becomes_the_task_that_its_author_described
    what_cannot_run_is_refused
    a_failure_that_is_tried_again_is_no_news
}

use PartState::{Cancelled, Done, Failed};

async fn a_line_runs_from_its_beginning_to_its_end(rig: &Rig) {
    let line = spec(vec![stage("write", &[]), stage("review", &[0]), stage("refine", &[1])]);
    let id = rig.workflow(line).await;
    assert_eq!(
        rig.kinds().await,
        ["project.added", "workflow.started", "task.added", "workflow.stage_started"]
    );
    assert_eq!(rig.shown(id).await, "running: write running, review pending, refine pending");
    rig.play(id, &[("write", Done)]).await;
    let kinds = rig.kinds().await;
    let expected = ["task.done", "workflow.stage_moved", "task.added", "workflow.stage_started"];
    assert_eq!(kinds[kinds.len() - 4..], expected);
    rig.play(id, &[("review", Done), ("refine", Done)]).await;
    assert_eq!(rig.shown(id).await, "succeeded: write done, review done, refine done");
    assert_eq!(rig.kinds().await.last().unwrap(), "workflow.ended");
    let detail = rig.workflow_detail(id).await;
    assert_eq!(detail.workflow.ended_at, Some(rig.now()));
    assert!(detail.parts.iter().all(|part| part.result.is_some() && part.ended_at.is_some()));
}

async fn a_diamond_joins_when_both_sides_are_over(rig: &Rig) {
    let diamond = spec(vec![stage("a", &[]), stage("b", &[0]), stage("c", &[0]), stage("d", &[1, 2])]);
    let id = rig.workflow(diamond).await;
    rig.play(id, &[("a", Done), ("c", Done)]).await;
    assert_eq!(rig.shown(id).await, "running: a done, b running, c done, d pending");
    rig.play(id, &[("b", Done)]).await;
    assert_eq!(rig.shown(id).await, "running: a done, b done, c done, d running");
    rig.play(id, &[("d", Failed)]).await;
    assert_eq!(rig.shown(id).await, "failed: a done, b done, c done, d failed");
    let detail = rig.workflow_detail(id).await;
    assert_eq!(detail.workflow.why.as_deref(), Some("d failed"));
    assert_eq!(detail.parts[3].detail.as_deref(), Some("broke"));
}

async fn failures_follow_the_policies_of_their_stages(rig: &Rig) {
    let four = || vec![stage("a", &[]), stage("b", &[0]), stage("c", &[]), stage("d", &[2])];
    let id = rig.workflow(spec(four())).await;
    rig.play(id, &[("a", Failed)]).await;
    assert_eq!(rig.shown(id).await, "running: a failed, b skipped: over, c running, d skipped: over");
    rig.play(id, &[("c", Done)]).await;
    assert_eq!(rig.shown(id).await, "failed: a failed, b skipped: over, c done, d skipped: over");

    let mut stages = four();
    stages[0].on_failure = OnFailure::SkipDependents;
    stages[2].on_failure = OnFailure::Continue;
    let id = rig.workflow(spec(stages)).await;
    rig.play(id, &[("a", Failed), ("c", Cancelled), ("d", Done)]).await;
    assert_eq!(rig.shown(id).await, "succeeded: a failed, b skipped: upstream, c cancelled, d done");
}

async fn a_hasty_workflow_stops_what_runs_and_cancels_what_waits(rig: &Rig) {
    let stages = vec![stage("a", &[]), stage("b", &[]), stage("c", &[])];
    let id = rig.workflow(Spec { fail_fast: true, ..spec(stages) }).await;
    let (a, b, c) = (rig.task_of(id, "a").await, rig.task_of(id, "b").await, rig.task_of(id, "c").await);
    let claimed = rig.claim(2).await;
    assert_eq!(claimed.iter().map(|claimed| claimed.task.id).collect::<Vec<_>>(), [a, b]);
    rig.ok(rig.ending_as(&claimed[0].run, Failed)).await;
    assert_eq!(rig.shown(id).await, "running: a failed, b running, c cancelled");
    assert_eq!(rig.state(c).await, TaskState::Cancelled);
    let stop = rig.detail(&claimed[1].run).await.run.stop.expect("it is asked to stop");
    assert_eq!(stop.why, "another stage of its workflow failed");
    rig.ok(rig.ending_as(&claimed[1].run, Cancelled)).await;
    assert_eq!(rig.shown(id).await, "failed: a failed, b cancelled, c cancelled");
}

async fn verdicts_and_lists_decide(rig: &Rig) {
    let mut stages =
        vec![stage("plan", &[]), stage("work", &[0]), stage("review", &[1]), stage("refine", &[2])];
    stages[0].returns = Returns::List;
    stages[1].copies = Copies::EachOf(0);
    stages[2].returns = Returns::Verdict;
    stages[3].when = Some(Condition::try_from("review.approve == false".to_owned()).unwrap());
    for (approve, end) in [(true, "succeeded"), (false, "running")] {
        let id = rig.workflow(spec(stages.clone())).await;
        let items = vec!["one".to_owned(), "two\0".to_owned()];
        rig.play_with(id, "plan", (Done, RunResult { items, ..result() })).await;
        assert!(rig.shown(id).await.ends_with("work-1 running, work-2 running"));
        let detail = rig.workflow_detail(id).await;
        let item = detail.parts.iter().find(|part| part.name == "work-2").unwrap().part.item.clone();
        assert_eq!(item.as_deref(), Some("two"), "both engines keep it");
        rig.play(id, &[("work-2", Done), ("work-1", Done)]).await;
        let verdict = Some(Verdict { approve: Some(approve), ..Verdict::default() });
        rig.play_with(id, "review", (Done, RunResult { verdict, ..result() })).await;
        assert!(rig.shown(id).await.starts_with(end), "{}", rig.shown(id).await);
    }
}

async fn a_stage_becomes_the_task_that_its_author_described(rig: &Rig) {
    let (mut look, mut perhaps) = (stage("look", &[]), stage("perhaps", &[0]));
    look.changes = ChangeRule::None;
    look.agent = Some("codex".parse().unwrap());
    look.limits.seconds = Some(60);
    (perhaps.changes, perhaps.start) = (ChangeRule::Optional, StageStart::Inherit);
    let id = rig.workflow(spec(vec![look, perhaps])).await;
    let first = rig.get(rig.task_of(id, "look").await).await;
    let task = first.task.spec;
    assert_eq!(task.title.as_str(), "flow: look");
    assert_eq!(task.description.as_str(), "do look: {task_prompt}");
    assert_eq!((task.priority.get(), task.read_only, task.may_be_empty), (4, true, false));
    assert_eq!(task.base.unwrap().as_str(), BASE);
    assert_eq!((task.limits.seconds, task.retry, task.agent), (Some(60), no_retry(), "codex".parse().ok()));
    let named = first.part.unwrap();
    assert_eq!((named.workflow, named.workflow_name.as_str(), named.name.as_str()), (id, "flow", "look"));
    rig.play(id, &[("look", Done)]).await;
    let second = rig.get(rig.task_of(id, "perhaps").await).await.task;
    assert_eq!((second.spec.read_only, second.spec.may_be_empty, second.spec.base), (false, true, None));
    assert_eq!(second.part.map(|of| (of.workflow, of.part)), Some((id, 1)));
}

async fn what_cannot_run_is_refused(rig: &Rig) {
    let circle = rig.workflow_adding(spec(vec![stage("a", &[1]), stage("b", &[0])])).await;
    assert!(matches!(rig.refused(circle).await, StoreError::Field(_)));
    let mut greedy = stage("b", &[0]);
    greedy.retries = Some(1_000);
    let greedy = rig.workflow_adding(spec(vec![stage("a", &[]), greedy])).await;
    assert!(matches!(rig.refused(greedy).await, StoreError::Field(_)), "before the first stage starts");
}

async fn a_failure_that_is_tried_again_is_no_news(rig: &Rig) {
    let mut patient = stage("a", &[]);
    patient.retries = Some(1);
    let id = rig.workflow(spec(vec![patient, stage("b", &[0])])).await;
    let run = rig.run_of(id, "a").await;
    let version = rig.workflow_detail(id).await.workflow.version;
    rig.ok(rig.ending_as(&run, Failed)).await;
    assert_eq!(rig.shown(id).await, "running: a running, b pending");
    assert_eq!(rig.workflow_detail(id).await.workflow.version, version);
    rig.pass(std::time::Duration::from_hours(1));
    rig.play(id, &[("a", Failed)]).await;
    assert_eq!(rig.shown(id).await, "failed: a failed, b skipped: over");
}
