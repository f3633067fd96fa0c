//! Deleting tasks: only what nobody works on or waits for; what happened stays told.

use fleet_core::event::Fact;
use fleet_core::id::TaskId;
use fleet_core::run::{Ending, RunState};
use fleet_core::task::{Status, TaskMove, TaskState};
use fleet_store::StoreError;
use fleet_store::ops::{GetTask, ListTasks, StatusFilter, TaskEvents, TaskFilter};

use crate::harness::Rig;

story! {
    a_deleted_task_is_gone_but_its_past_stays
    a_running_task_is_not_deleted
    a_task_that_others_wait_for_is_not_deleted
    a_done_task_is_deleted_under_its_dependents
    the_id_of_a_deleted_task_may_be_used_again
    a_task_that_comes_back_is_claimed_with_new_numbers
}

async fn a_deleted_task_is_gone_but_its_past_stays(rig: &Rig) {
    let on = rig.task("on").await;
    let mut draft = rig.draft("gone").await;
    draft.after = vec![on];
    draft.spec.description = "long text".parse().unwrap();
    draft.spec.labels = serde_json::from_str(r#"["a"]"#).unwrap();
    let id = rig.add_one(draft).await;
    rig.finish(on).await;
    let run = rig.start(id).await;
    rig.end(&run, Ending::Released("stop".to_owned())).await;
    rig.news().await;
    let told = rig.ok(rig.deleting(id)).await;
    assert_eq!((told.id, told.spec.title.as_str()), (id, "gone"));
    assert_eq!(rig.facts().await, [Fact::TaskDeleted { title: told.spec.title }]);

    assert!(matches!(rig.store.call(GetTask { id }).await, Err(StoreError::TaskNotFound(_))));
    assert_eq!(rig.get(on).await.before, []);
    let label = serde_json::from_str(r#"["a"]"#).unwrap();
    let filter = TaskFilter { labels: label, ..TaskFilter::default() };
    let list = ListTasks { statuses: StatusFilter::all(), filter, limit: 9, now: rig.now() };
    assert!(rig.ok(list).await.tasks.is_empty());
    let past = rig.ok(TaskEvents { task: id, limit: 100 }).await;
    let kinds: Vec<String> = past.iter().map(|event| event.fact.kind()).collect();
    assert_eq!(kinds, ["task.added", "task.started", "task.requeued", "task.deleted"]);
    let runs = rig.place().count("SELECT count(*) FROM runs WHERE state = 'cancelled'").await;
    assert_eq!((runs, RunState::Cancelled.as_str()), (1, "cancelled"), "the run stays");
    for table in ["task_descriptions", "task_labels", "deps"] {
        assert_eq!(rig.place().count(&format!("SELECT count(*) FROM {table}")).await, 0, "{table}");
    }
}

async fn a_running_task_is_not_deleted(rig: &Rig) {
    let id = rig.task("one").await;
    rig.start(id).await;
    let error = rig.refused(rig.deleting(id)).await;
    assert!(
        matches!(error, StoreError::NotNow { task, from: TaskState::Running, .. } if task == id),
        "{error}"
    );
    assert_eq!(error.to_string(), format!("task {id} is running: it cannot be deleted"));
    rig.moved(id, TaskMove::Cancel).await;
    rig.ok(rig.deleting(id)).await;
    let kinds = rig.kinds().await;
    assert_eq!(kinds[2..], ["task.started", "task.cancelled", "task.deleted"]);
}

async fn a_task_that_others_wait_for_is_not_deleted(rig: &Rig) {
    let on = rig.task("on").await;
    let (one, two) = (rig.task_after("one", &[on]).await, rig.task_after("two", &[on]).await);
    let waiting = async || -> Vec<TaskId> {
        match rig.refused(rig.deleting(on)).await {
            StoreError::HasDependents { task, dependents } if task == on => dependents,
            other => panic!("{other}"),
        }
    };
    assert_eq!(waiting().await, [one, two]);
    rig.ok(rig.deleting(one)).await;
    assert_eq!(waiting().await, [two], "a dependent may be deleted");
    rig.moved(two, TaskMove::Cancel).await;
    assert_eq!(waiting().await, [two], "it may be retried");
    rig.ok(rig.undepending(two, on)).await;
    rig.ok(rig.deleting(on)).await;
    let kinds = rig.kinds().await;
    assert_eq!(kinds[4..], ["task.deleted", "task.cancelled", "task.dependency_removed", "task.deleted"]);
}

async fn a_done_task_is_deleted_under_its_dependents(rig: &Rig) {
    let on = rig.task("on").await;
    let (free, held) = (rig.task_after("free", &[on]).await, rig.task_after("held", &[on]).await);
    rig.moved(held, TaskMove::Hold).await;
    rig.finish(on).await;
    rig.ok(rig.deleting(on)).await;
    let detail = rig.get(free).await;
    assert_eq!((detail.task.status(rig.now()), detail.after.len()), (Status::Ready, 0));
    assert_eq!(rig.moved(held, TaskMove::Release).await.status(rig.now()), Status::Ready);
    let error = rig.refused(rig.undepending(free, on)).await;
    assert!(matches!(error, StoreError::NoSuchDependency { .. }), "{error}");
    assert_eq!(rig.kinds().await.last().map(String::as_str), Some("task.released"));
}

async fn the_id_of_a_deleted_task_may_be_used_again(rig: &Rig) {
    let mut drafts = rig.drafts(1).await;
    rig.add(drafts.clone()).await;
    rig.ok(rig.deleting(drafts[0].id)).await;
    drafts[0].spec.title = "from a backup".parse().unwrap();
    let added = rig.ok(rig.adding(drafts)).await;
    assert_eq!(rig.get(added[0].id).await.task, added[0]);
    assert_eq!(rig.kinds().await, ["project.added", "task.added", "task.deleted", "task.added"]);
}

async fn a_task_that_comes_back_is_claimed_with_new_numbers(rig: &Rig) {
    let drafts = rig.drafts(1).await;
    let id = rig.add(drafts.clone()).await[0];
    let old = rig.start(id).await;
    rig.moved(id, TaskMove::Cancel).await;
    rig.ok(rig.deleting(id)).await;
    let added = rig.ok(rig.adding(drafts)).await.pop().unwrap();
    assert_eq!(rig.get(id).await.task, added);
    let new = rig.start(id).await;
    assert_eq!((old.attempt, new.attempt), (1, 2), "a fencing number is never given twice");
    let error = rig.refused(rig.ending(&old, Ending::Succeeded)).await;
    assert!(matches!(error, StoreError::LeaseLost { .. }), "{error}");
    rig.succeed(&new).await;
    assert_eq!(rig.kinds().await.last().map(String::as_str), Some("task.done"));
}
