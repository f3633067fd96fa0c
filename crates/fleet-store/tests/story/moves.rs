//! What people do to a task: every move from every state.

use std::time::Duration;

use fleet_core::Machine as _;
use fleet_core::event::Fact;
use fleet_core::id::TaskId;
use fleet_core::policy::RetryPolicy;
use fleet_core::run::{Ending, Reason, RunMove, RunState};
use fleet_core::task::{Remark, TaskEdit, TaskHistory, TaskMove, TaskState};
use fleet_store::StoreError;
use fleet_store::ops::{All, CancelIdle, EditTask, MoveTask, RenewLease};

use crate::harness::Rig;

story! {
    every_move_from_every_state
    moves_that_are_not_for_people_are_refused
    remarks_are_kept_and_told
    cancelling_a_running_task_ends_its_run
    cancelling_works_at_every_stage_of_a_run
    only_what_nobody_works_on_is_cancelled_as_idle
    a_retry_starts_with_a_clean_record
    a_retry_ends_the_wait_after_a_failure
    several_moves_happen_together_or_not_at_all
}

/// Brings a fresh task into a state.
async fn task_in(rig: &Rig, state: TaskState) -> TaskId {
    let id = rig.task(state.as_str()).await;
    match state {
        TaskState::Queued => {}
        TaskState::Held => drop(rig.moved(id, TaskMove::Hold).await),
        TaskState::Cancelled => drop(rig.moved(id, TaskMove::Cancel).await),
        TaskState::Running => drop(rig.start(id).await),
        TaskState::Done => rig.finish(id).await,
        TaskState::Failed => {
            let run = rig.start(id).await;
            rig.end(&run, Ending::Failed(Reason::Auth, "no".to_owned())).await;
        }
        TaskState::Waiting => {
            let run = rig.start(id).await;
            rig.work(&run).await;
            rig.end(&run, Ending::Asked).await;
        }
    }
    assert_eq!(rig.state(id).await, state);
    id
}

const PERSONAL: [TaskMove; 4] = [TaskMove::Hold, TaskMove::Release, TaskMove::Cancel, TaskMove::Retry];

async fn every_move_from_every_state(rig: &Rig) {
    for state in TaskState::ALL.iter().copied() {
        for event in PERSONAL {
            let id = task_in(rig, state).await;
            rig.news().await;
            let before = rig.get(id).await.task;
            rig.pass(Duration::from_secs(1));
            if let Ok(to) = state.next(event) {
                let task = rig.moved(id, event).await;
                assert_eq!(task, rig.get(id).await.task, "{event} a {state} one");
                assert_eq!((task.state(), task.version), (to, before.version + 1));
                assert_eq!((task.updated_at, task.history.remark.as_deref()), (rig.now(), None));
                assert_eq!(rig.facts().await, [told(event)]);
            } else {
                let error = rig.refused(rig.moving(id, event)).await;
                let StoreError::Illegal { task, from, event: refused } = error else { panic!("{error}") };
                assert_eq!((task, from, refused), (id, state, event));
            }
            if !rig.state(id).await.is_settled() {
                rig.moved(id, TaskMove::Cancel).await;
            }
        }
    }
}

fn told(event: TaskMove) -> Fact {
    match event {
        TaskMove::Hold => Fact::TaskHeld { remark: None },
        TaskMove::Release => Fact::TaskReleased {},
        TaskMove::Cancel => Fact::TaskCancelled { remark: None },
        TaskMove::Retry => Fact::TaskRetried {},
        other => panic!("{other} is not for people"),
    }
}

async fn moves_that_are_not_for_people_are_refused(rig: &Rig) {
    let queued = rig.task("queued").await;
    rig.refused(rig.moving(queued, TaskMove::Start)).await;
    rig.start(queued).await;
    for event in [TaskMove::Finish, TaskMove::Fail, TaskMove::Requeue, TaskMove::Ask] {
        rig.refused(rig.moving(queued, event)).await;
    }
    assert_eq!(rig.state(queued).await, TaskState::Running);
    assert_eq!(rig.kinds().await, ["project.added", "task.added", "task.started"]);
}

async fn remarks_are_kept_and_told(rig: &Rig) {
    let id = rig.task("one").await;
    rig.news().await;
    let remark: Remark = "not now: \"later\"".parse().unwrap();
    let hold = MoveTask { remark: Some(remark.clone()), ..rig.moving(id, TaskMove::Hold) };
    assert_eq!(rig.ok(hold).await.history.remark.as_deref(), Some(remark.as_str()));
    assert_eq!(rig.moved(id, TaskMove::Release).await.history.remark, None, "it was about being held");
    let cancel = MoveTask { remark: Some(remark.clone()), ..rig.moving(id, TaskMove::Cancel) };
    rig.ok(cancel).await;
    assert_eq!(rig.get(id).await.task.history.remark.as_deref(), Some(remark.as_str()));
    let text = Some(remark.to_string());
    let expected = [
        Fact::TaskHeld { remark: text.clone() },
        Fact::TaskReleased {},
        Fact::TaskCancelled { remark: text },
    ];
    assert_eq!(rig.facts().await, expected);
}

async fn cancelling_a_running_task_ends_its_run(rig: &Rig) {
    let id = rig.task("one").await;
    let run = rig.start(id).await;
    rig.ok(rig.advancing(&run, RunMove::Start)).await;
    rig.pass(Duration::from_secs(2));
    rig.news().await;
    rig.moved(id, TaskMove::Cancel).await;
    let told = rig.news().await;
    let [cancelled] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!(cancelled.fact, Fact::TaskCancelled { remark: None });
    assert_eq!(cancelled.subject.run, Some(run.id), "the run that it ended is named");
    let ended = rig.get(id).await.runs.pop().unwrap();
    assert_eq!((ended.state(), ended.ended_at), (RunState::Cancelled, Some(rig.now())));

    let lost = |error: &StoreError| matches!(error, StoreError::LeaseLost { run: lost } if *lost == run.id);
    assert!(lost(&rig.refused(rig.advancing(&run, RunMove::Exit)).await));
    let renew =
        RenewLease { run: run.id, attempt: run.attempt, lease: Duration::from_secs(9), now: rig.now() };
    assert!(lost(&rig.refused(renew).await));
    for ending in [
        Ending::Succeeded,
        Ending::Asked,
        Ending::Failed(Reason::AgentError, String::new()),
        Ending::Released(String::new()),
        Ending::Cancelled(String::new()),
    ] {
        assert!(lost(&rig.refused(rig.ending(&run, ending)).await));
    }
    rig.ok(rig.deleting(id)).await;
    assert!(
        lost(&rig.refused(rig.ending(&run, Ending::Succeeded)).await),
        "also when the task itself is gone"
    );
    assert_eq!(rig.kinds().await, ["task.deleted"]);
}

async fn cancelling_works_at_every_stage_of_a_run(rig: &Rig) {
    for stage in [RunState::Preparing, RunState::Running, RunState::Finishing] {
        let id = rig.task("one").await;
        let run = rig.start(id).await;
        if stage != RunState::Preparing {
            rig.ok(rig.advancing(&run, RunMove::Start)).await;
        }
        if stage == RunState::Finishing {
            rig.ok(rig.advancing(&run, RunMove::Exit)).await;
        }
        assert_eq!(rig.get(id).await.runs[0].state, stage);
        rig.moved(id, TaskMove::Cancel).await;
        assert_eq!(rig.get(id).await.runs[0].state, RunState::Cancelled);
        let again = rig.moved(id, TaskMove::Retry).await;
        assert_eq!(again.history.attempts, 1, "the next claim counts on");
        assert_eq!(rig.start(id).await.attempt, 2);
        rig.moved(id, TaskMove::Cancel).await;
    }
    let kinds = rig.kinds().await;
    assert_eq!(kinds.iter().filter(|kind| *kind == "task.cancelled").count(), 6);
}

async fn a_retry_starts_with_a_clean_record(rig: &Rig) {
    let id = rig.task("one").await;
    let edit =
        TaskEdit { retry: Some(RetryPolicy { retries: 1, ..RetryPolicy::default() }), ..TaskEdit::default() };
    rig.ok(EditTask { id, edit, now: rig.now() }).await;
    for failures in 1..=2 {
        let run = rig.start(id).await;
        let task = rig.end(&run, Ending::Failed(Reason::Stale, "silent".to_owned())).await;
        assert_eq!((task.history.failures, task.history.reason), (failures, Some(Reason::Stale)));
        rig.pass(Duration::from_secs(10));
    }
    let failed = rig.get(id).await.task;
    assert_eq!((failed.state(), failed.history.retry_at.is_some()), (TaskState::Failed, true));
    rig.news().await;
    let task = rig.moved(id, TaskMove::Retry).await;
    assert_eq!(task.history, TaskHistory { attempts: 2, ..TaskHistory::default() });
    assert_eq!((task.state(), task.due()), (TaskState::Queued, None));
    assert_eq!(rig.facts().await, [Fact::TaskRetried {}]);
    let run = rig.start(id).await;
    let task = rig.end(&run, Ending::Failed(Reason::Stale, "silent".to_owned())).await;
    assert_eq!(
        (task.state(), task.history.failures),
        (TaskState::Queued, 1),
        "one failure is forgiven again"
    );

    let at = Some(rig.now().plus(Duration::from_hours(1)));
    let other = rig.task("other").await;
    let edit = TaskEdit { not_before: Some(at), ..TaskEdit::default() };
    rig.ok(EditTask { id: other, edit, now: rig.now() }).await;
    rig.moved(other, TaskMove::Cancel).await;
    assert_eq!(rig.moved(other, TaskMove::Retry).await.spec.not_before, at, "what its author wished stays");
}

/// Cancelled in between or put aside: whoever takes the task up again wants it now.
async fn a_retry_ends_the_wait_after_a_failure(rig: &Rig) {
    let id = rig.task("one").await;
    for aside in [TaskMove::Cancel, TaskMove::Hold] {
        let run = rig.start(id).await;
        let task = rig.end(&run, Ending::Failed(Reason::Stale, "silent".to_owned())).await;
        assert!(task.due() > Some(rig.now()) && task.spec.not_before.is_none());
        assert!(rig.claim(1).await.is_empty(), "not before the wait is over");
        rig.moved(id, aside).await;
        assert_eq!(rig.moved(id, TaskMove::Retry).await.due(), None, "after {aside}");
    }
    let run = rig.start(id).await;
    rig.end(&run, Ending::Failed(Reason::Stale, "silent".to_owned())).await;
    let now = TaskEdit { not_before: Some(None), ..TaskEdit::default() };
    let (task, fields) = rig.ok(EditTask { id, edit: now, now: rig.now() }).await;
    assert_eq!((task.due(), fields.as_slice()), (None, &["not_before"][..]), "an author who says when, too");
    let run = rig.start(id).await;
    rig.end(&run, Ending::Failed(Reason::Stale, "silent".to_owned())).await;
    let later = rig.now().plus(Duration::from_hours(1));
    let edit = TaskEdit { not_before: Some(Some(later)), ..TaskEdit::default() };
    rig.ok(EditTask { id, edit, now: rig.now() }).await;
    rig.pass(Duration::from_mins(30));
    assert!(rig.claim(1).await.is_empty(), "the author's wish counts");
    rig.pass(Duration::from_mins(30));
    rig.start(id).await;
    assert_eq!(rig.kinds().await.iter().filter(|kind| *kind == "task.requeued").count(), 4);
}

async fn several_moves_happen_together_or_not_at_all(rig: &Rig) {
    let ids = rig.tasks(3).await;
    let all = |event| All(ids.iter().map(|id| rig.moving(*id, event)).collect());
    rig.moved(ids[1], TaskMove::Hold).await;
    let error = rig.refused(all(TaskMove::Hold)).await;
    assert!(matches!(error, StoreError::Illegal { task, .. } if task == ids[1]), "{error}");
    rig.moved(ids[1], TaskMove::Release).await;
    rig.news().await;
    let moved = rig.ok(all(TaskMove::Hold)).await;
    assert_eq!(
        moved.iter().map(|task| (task.id, task.state())).collect::<Vec<_>>(),
        ids.iter().map(|id| (*id, TaskState::Held)).collect::<Vec<_>>()
    );
    assert_eq!(rig.kinds().await, ["task.held", "task.held", "task.held"]);
    let empty: Vec<MoveTask> = Vec::new();
    assert!(rig.ok(All(empty)).await.is_empty());
}

async fn only_what_nobody_works_on_is_cancelled_as_idle(rig: &Rig) {
    for state in TaskState::ALL.iter().copied() {
        let id = task_in(rig, state).await;
        let before = rig.get(id).await.task;
        let cancel = CancelIdle { id, remark: None, now: rig.now() };
        match state {
            TaskState::Running => {
                assert_eq!(rig.ok(cancel).await, None);
                assert_eq!(rig.get(id).await.task, before, "it is left alone");
            }
            TaskState::Done | TaskState::Cancelled => {
                let refused = rig.refused(cancel).await;
                assert!(matches!(refused, StoreError::Illegal { .. }), "{refused}");
            }
            _ => assert_eq!(rig.ok(cancel).await.unwrap().state(), TaskState::Cancelled),
        }
    }
}
