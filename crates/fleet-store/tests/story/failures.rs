//! What becomes of a task when its run ends: as the policy says, and nothing else.

use std::time::Duration;

use fleet_core::event::Fact;
use fleet_core::id::TaskId;
use fleet_core::policy::{FailedRun, FailureDecision, Policy, RetryPolicy};
use fleet_core::run::{Ending, Reason, RunState};
use fleet_core::task::{Status, TaskHistory, TaskMode, TaskMove, TaskState};
use fleet_store::ops::{EndRun, FailureSettings, LiftPause};

use crate::harness::Rig;

story! {
    a_good_end_finishes_the_task
    a_question_makes_the_task_wait
    a_released_run_does_not_count_as_a_failure
    every_reason_follows_the_policy
    work_that_fails_its_checks_goes_back_so_often_and_no_more
    a_full_conversation_counts_by_itself
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
    let mode = TaskMode::Headless;
    let failure =
        FailedRun { reason, mode, failures, waits: 0, check_failures: 0, context_restarts: 0, retry, jitter };
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
    let text = "It ended with a question.".to_owned();
    let asked = Fact::TaskAsked { number: 1, text, options: Vec::new() };
    assert_eq!(rig.facts().await, [asked, Fact::TaskWaiting {}]);
    assert!(rig.claim(1).await.is_empty());
}

async fn a_released_run_does_not_count_as_a_failure(rig: &Rig) {
    let id = patient_task(rig, RetryPolicy { retries: 0, ..RetryPolicy::default() }).await;
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
    let policy = RetryPolicy { retries: 1, backoff_seconds: 100, ..RetryPolicy::default() };
    for (reason, jitter) in Reason::ALL.iter().copied().zip((0..).step_by(7_001)) {
        let id = patient_task(rig, policy).await;
        let run = rig.start(id).await;
        rig.news().await;
        let detail = format!("because of {reason}");
        let failed = verdict(reason, 0, policy, jitter);
        let mut counted = TaskHistory::default();
        counted.count(failed.counter(reason));
        let failures = counted.failures;
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
        let history = &task.history;
        let numbers = |history: &TaskHistory| {
            [history.failures, history.waits, history.check_failures, history.context_restarts]
        };
        assert_eq!(numbers(history), numbers(&counted), "{reason}");
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

async fn work_that_fails_its_checks_goes_back_so_often_and_no_more(rig: &Rig) {
    let policy = RetryPolicy { retries: 1, check_retries: 2, ..RetryPolicy::default() };
    let id = patient_task(rig, policy).await;
    let failed = || Ending::Failed(Reason::ChecksFailed, "the check `make` failed".to_owned());
    for before in 0..2 {
        let run = rig.start(id).await;
        let task = rig.end(&run, failed()).await;
        let history = &task.history;
        assert_eq!((history.check_failures, history.failures, history.waits), (before + 1, 0, 0));
        assert_eq!(task.status(rig.now()), Status::Ready, "there is nothing to wait for");
    }
    let run = rig.start(id).await;
    let task = rig.end(&run, failed()).await;
    assert_eq!((task.state(), task.history.reason), (TaskState::Failed, Some(Reason::ChecksFailed)));
    assert_eq!(rig.get(id).await.task.history.check_failures, 3);
    rig.moved(id, TaskMove::Retry).await;
    assert_eq!(rig.get(id).await.task.history.check_failures, 0, "a person forgives");
}

async fn a_full_conversation_counts_by_itself(rig: &Rig) {
    let id = patient_task(rig, RetryPolicy { retries: 0, ..RetryPolicy::default() }).await;
    let full = || Ending::Failed(Reason::ContextPressure, "91 %".to_owned());
    let after = |policy| FailureSettings { policy, ..FailureSettings::default() };
    let run = rig.start(id).await;
    let end = EndRun { after: after(Policy::default().with_context_restarts(1)), ..rig.ending(&run, full()) };
    let task = rig.ok(end.clone()).await;
    assert_eq!((task.history.context_restarts, task.history.failures), (1, 0));
    assert_eq!(task.status(rig.now()), Status::Scheduled, "it waits a little");
    rig.pass(Duration::from_mins(1));
    let run = rig.start(id).await;
    let end = EndRun { run: run.id, attempt: run.attempt, now: rig.now(), ..end };
    let task = rig.ok(end).await;
    assert_eq!((task.state(), task.history.context_restarts), (TaskState::Failed, 2));
    rig.moved(id, TaskMove::Retry).await;
    assert_eq!(rig.get(id).await.task.history.context_restarts, 0);
}

async fn failures_add_up_until_the_policy_gives_up(rig: &Rig) {
    let policy = RetryPolicy { retries: 3, backoff_seconds: 20, ..RetryPolicy::default() };
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
