//! What becomes of a task when its run ends: as the policy says, and nothing else.

use std::time::Duration;

use fleet_core::event::Fact;
use fleet_core::id::TaskId;
use fleet_core::policy::{FailedRun, FailureDecision, Policy, RetryPolicy};
use fleet_core::run::{Ending, Reason, RunState};
use fleet_core::task::{Status, TaskMode, TaskMove, TaskState};
use fleet_store::ops::{EndRun, LiftPause};

use crate::harness::Rig;

story! {
    a_good_end_finishes_the_task
    a_question_makes_the_task_wait
    a_released_run_does_not_count_as_a_failure
    every_reason_follows_the_policy
    failures_add_up_until_the_policy_gives_up
    an_interactive_task_waits_for_a_person
}

async fn patient_task(rig: &Rig, retry: RetryPolicy) -> TaskId {
    let mut draft = rig.draft("one").await;
    draft.spec.retry = retry;
    rig.add_one(draft).await
}

/// What the usual policy says when nobody can take over.
fn verdict(reason: Reason, failures: u32, retry: RetryPolicy, jitter: u64) -> FailureDecision {
    let failure = FailedRun { reason, mode: TaskMode::Headless, failures, waits: 0, retry, jitter };
    Policy::default().after_failure(&failure, None)
}

async fn a_good_end_finishes_the_task(rig: &Rig) {
    let id = rig.task("one").await;
    let run = rig.start(id).await;
    rig.work(&run).await;
    rig.pass(Duration::from_secs(3));
    rig.news().await;
    let told = rig.end(&run, Ending::Succeeded).await;
    let detail = rig.get(id).await;
    assert_eq!((told.state(), detail.task.state()), (TaskState::Done, TaskState::Done));
    assert_eq!((detail.task.history.failures, detail.task.history.reason), (0, None));
    let run = &detail.runs[0];
    assert_eq!((run.state(), run.reason, &run.detail), (RunState::Succeeded, None, &None));
    assert_eq!((run.ended_at, detail.task.updated_at), (Some(rig.now()), rig.now()));
    let news = rig.news().await;
    assert_eq!(news.iter().map(|event| event.fact.clone()).collect::<Vec<_>>(), [Fact::TaskDone {}]);
    assert_eq!((news[0].subject.task, news[0].subject.run), (Some(id), Some(run.id)));
}

async fn a_question_makes_the_task_wait(rig: &Rig) {
    let id = rig.task("one").await;
    let run = rig.start(id).await;
    rig.work(&run).await;
    rig.news().await;
    assert_eq!(rig.end(&run, Ending::Asked).await.state(), TaskState::Waiting);
    assert_eq!(rig.get(id).await.runs[0].state, RunState::Succeeded);
    assert_eq!(rig.facts().await, [Fact::TaskWaiting {}]);
    assert!(rig.claim(1).await.is_empty());
}

async fn a_released_run_does_not_count_as_a_failure(rig: &Rig) {
    let id = patient_task(rig, RetryPolicy { retries: 0, backoff_seconds: 10 }).await;
    for _ in 0..4 {
        let run = rig.start(id).await;
        rig.news().await;
        let task = rig.end(&run, Ending::Released("shutdown".to_owned())).await;
        assert_eq!((task.state(), task.history.failures, task.history.reason), (TaskState::Queued, 0, None));
        assert_eq!(
            (task.status(rig.now()), task.history.remark.as_deref()),
            (Status::Ready, Some("shutdown"))
        );
        let ended = rig.get(id).await.runs.pop().unwrap();
        assert_eq!((ended.state(), ended.detail.as_deref()), (RunState::Cancelled, Some("shutdown")));
        let detail = "shutdown".to_owned();
        assert_eq!(
            rig.facts().await,
            [Fact::TaskRequeued { reason: None, detail, failures: 0, not_before: None }]
        );
    }
    let run = rig.start(id).await;
    assert_eq!(rig.get(id).await.task.history.remark, None, "it was about the run before");
    rig.succeed(&run).await;
}

async fn every_reason_follows_the_policy(rig: &Rig) {
    let policy = RetryPolicy { retries: 1, backoff_seconds: 100 };
    for (reason, jitter) in Reason::ALL.iter().copied().zip((0..).step_by(7_001)) {
        let id = patient_task(rig, policy).await;
        let run = rig.start(id).await;
        rig.news().await;
        let detail = format!("because of {reason}");
        let failed = verdict(reason, 0, policy, jitter);
        let (failures, waits) = if failed.counts(reason) { (1, 0) } else { (0, 1) };
        let end = EndRun { jitter, ..rig.ending(&run, Ending::Failed(reason, detail.clone())) };
        let task = rig.ok(end).await;
        let expected = match failed {
            FailureDecision::GiveUp => {
                assert_eq!(task.state(), TaskState::Failed, "{reason}");
                Fact::TaskFailed { reason, detail: detail.clone(), failures }
            }
            FailureDecision::RetryAfter(wait) => {
                let not_before = Some(rig.now().plus(wait));
                assert_eq!(
                    (task.state(), task.history.retry_at),
                    (TaskState::Queued, not_before),
                    "{reason}"
                );
                Fact::TaskRequeued { reason: Some(reason), detail: detail.clone(), failures, not_before }
            }
            FailureDecision::Pause => {
                assert_eq!(
                    (task.status(rig.now()), task.history.retry_at),
                    (Status::Ready, None),
                    "{reason}"
                );
                let detail = detail.clone();
                Fact::TaskRequeued { reason: Some(reason), detail, failures, not_before: None }
            }
            FailureDecision::HandOver(to) => panic!("handed over to {to}"),
        };
        assert_eq!(rig.facts().await.pop(), Some(expected));
        assert_eq!((task.history.failures, task.history.waits), (failures, waits), "{reason}");
        assert_eq!(task.history.reason, Some(reason));
        assert_eq!(task.history.remark.as_ref(), Some(&detail));
        let ended = rig.get(id).await.runs.pop().unwrap();
        let state = match reason {
            Reason::TimedOut => RunState::TimedOut,
            Reason::Lost => RunState::Lost,
            _ => RunState::Failed,
        };
        assert_eq!((ended.state(), ended.reason, ended.detail), (state, Some(reason), Some(detail)));
        // Neither the pause nor the task is in the way of the next.
        rig.ok(LiftPause { account: "claude".to_owned(), now: rig.now() }).await;
        if !task.state().is_settled() {
            rig.moved(id, TaskMove::Cancel).await;
        }
    }
}

async fn failures_add_up_until_the_policy_gives_up(rig: &Rig) {
    let policy = RetryPolicy { retries: 3, backoff_seconds: 20 };
    let id = patient_task(rig, policy).await;
    for earlier in 0..3 {
        let run = rig.start(id).await;
        let task = rig.end(&run, Ending::Failed(Reason::AgentError, "no".to_owned())).await;
        let FailureDecision::RetryAfter(wait) = verdict(Reason::AgentError, earlier, policy, 0) else {
            panic!("the policy gave up early")
        };
        assert_eq!((task.history.failures, task.status(rig.now())), (earlier + 1, Status::Scheduled));
        rig.pass(wait.checked_sub(Duration::from_millis(1)).unwrap());
        assert!(rig.claim(1).await.is_empty(), "the wait is not over");
        rig.pass(Duration::from_millis(1));
    }
    let run = rig.start(id).await;
    let task = rig.end(&run, Ending::Failed(Reason::AgentError, "no".to_owned())).await;
    assert_eq!((task.state(), task.history.failures), (TaskState::Failed, 4));
    assert_eq!(rig.get(id).await.runs.len(), 4);
    let kinds = rig.kinds().await;
    assert_eq!(kinds.iter().filter(|kind| *kind == "task.requeued").count(), 3);
    assert_eq!(kinds.last().map(String::as_str), Some("task.failed"));
}

async fn an_interactive_task_waits_for_a_person(rig: &Rig) {
    for (ending, reason) in [
        (Ending::Failed(Reason::Lost, "its keeper stopped answering".to_owned()), Reason::Lost),
        (Ending::Failed(Reason::RateLimited, "slow down".to_owned()), Reason::RateLimited),
        (Ending::Released("codefleet was stopped".to_owned()), Reason::Lost),
    ] {
        let mut draft = rig.draft("one").await;
        draft.spec.mode = TaskMode::Interactive;
        let id = rig.add_one(draft).await;
        let run = rig.start(id).await;
        rig.work(&run).await;
        let task = rig.end(&run, ending.clone()).await;
        assert_eq!((task.state(), task.history.reason), (TaskState::Failed, Some(reason)), "{ending:?}");
        assert!(rig.claim(9).await.is_empty());
        rig.ok(LiftPause { account: run.agent.clone(), now: rig.now() }).await;
        rig.moved(id, TaskMove::Retry).await;
        let again = rig.start(id).await;
        // Nobody has seen anything of it.
        let task = rig.end(&again, Ending::Released("the runner was gone".to_owned())).await;
        assert_eq!(task.state(), TaskState::Queued);
        rig.moved(id, TaskMove::Cancel).await;
    }
}
