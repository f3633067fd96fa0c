//! Adding many tasks at once, with what they wait for: all or none.

use fleet_core::event::Fact;
use fleet_core::id::TaskId;
use fleet_core::task::{Status, TaskMove, TaskState};
use fleet_store::StoreError;
use fleet_store::ops::{ListReady, NewTask, TaskFilter};

use crate::harness::Rig;

story! {
    a_new_task_waits_for_what_is_open_and_not_for_what_is_done
    naming_a_dependency_twice_is_naming_it_once
    tasks_of_one_batch_may_wait_for_each_other
    one_unknown_dependency_refuses_the_whole_batch
    one_known_id_refuses_the_whole_batch
    a_batch_from_another_store_brings_its_states
    five_thousand_tasks_come_in_at_once
}

async fn a_new_task_waits_for_what_is_open_and_not_for_what_is_done(rig: &Rig) {
    let [done, failed, open] = rig.tasks(3).await[..] else { panic!("three tasks") };
    rig.finish(done).await;
    rig.moved(failed, TaskMove::Cancel).await;
    rig.news().await;
    let waits = rig.task_after("waits", &[open, done, failed]).await;
    let detail = rig.get(waits).await;
    assert_eq!((detail.task.open_deps, detail.task.status(rig.now())), (2, Status::Blocked));
    let states = [(done, TaskState::Done), (failed, TaskState::Cancelled), (open, TaskState::Queued)];
    assert_eq!(detail.after, states, "in the order of their ids");
    assert_eq!(rig.get(done).await.before, [(waits, TaskState::Queued)]);
    let free = rig.task_after("free", &[done]).await;
    assert_eq!(rig.get(free).await.task.status(rig.now()), Status::Ready);
    let after = |facts: &[Fact], at: usize| match &facts[at] {
        Fact::TaskAdded { after, .. } => after.clone(),
        other => panic!("{other:?}"),
    };
    let facts = rig.facts().await;
    assert_eq!((after(&facts, 0), after(&facts, 1)), (vec![open, done, failed], vec![done]));
}

async fn naming_a_dependency_twice_is_naming_it_once(rig: &Rig) {
    let first = rig.task("first").await;
    let waits = rig.task_after("waits", &[first, first]).await;
    let detail = rig.get(waits).await;
    assert_eq!((detail.task.open_deps, detail.after.len()), (1, 1));
    rig.finish(first).await;
    assert_eq!(rig.get(waits).await.task.status(rig.now()), Status::Ready);
}

async fn tasks_of_one_batch_may_wait_for_each_other(rig: &Rig) {
    let mut drafts = rig.drafts(4).await;
    let ids: Vec<TaskId> = drafts.iter().map(|draft| draft.id).collect();
    // The first of the batch waits for the last, across the batch; 1 and 2 for 3.
    drafts[0].after = vec![ids[1], ids[2]];
    drafts[1].after = vec![ids[3]];
    drafts[2].after = vec![ids[3]];
    assert_eq!(rig.add(drafts).await, ids, "told in the order of the batch");
    assert_eq!(rig.kinds().await, ["project.added", "task.added", "task.added", "task.added", "task.added"]);
    let ready = async || -> Vec<TaskId> {
        let page = rig.ok(ListReady { filter: TaskFilter::default(), limit: 10, now: rig.now() }).await;
        page.tasks.iter().map(|task| task.id).collect()
    };
    assert_eq!(ready().await, [ids[3]]);
    rig.finish(ids[3]).await;
    assert_eq!(ready().await, [ids[1], ids[2]]);
    rig.finish(ids[1]).await;
    assert_eq!(ready().await, [ids[2]]);
    rig.finish(ids[2]).await;
    assert_eq!(ready().await, [ids[0]]);
}

async fn one_unknown_dependency_refuses_the_whole_batch(rig: &Rig) {
    let known = rig.task("known").await;
    let unknown: TaskId = rig.id();
    let mut drafts = rig.drafts(3).await;
    drafts[0].after = vec![known];
    drafts[2].after = vec![unknown];
    drafts[0].spec.description = "a text of its own".parse().unwrap();
    let error = rig.refused(rig.adding(drafts)).await;
    assert!(matches!(&error, StoreError::TaskNotFound(text) if *text == unknown.to_string()), "{error}");
    assert_eq!(rig.kinds().await, ["project.added", "task.added"]);
}

async fn one_known_id_refuses_the_whole_batch(rig: &Rig) {
    let known = rig.task("known").await;
    let mut drafts = rig.drafts(3).await;
    drafts[1].id = known;
    let error = rig.refused(rig.adding(drafts.clone())).await;
    assert!(matches!(error, StoreError::TaskExists(id) if id == known), "{error}");
    drafts[1].id = drafts[0].id;
    let error = rig.refused(rig.adding(drafts.clone())).await;
    assert!(matches!(error, StoreError::TaskExists(id) if id == drafts[0].id), "{error}");
    assert_eq!(rig.kinds().await, ["project.added", "task.added"]);
}

async fn a_batch_from_another_store_brings_its_states(rig: &Rig) {
    let mut drafts = rig.drafts(3).await;
    let ids: Vec<TaskId> = drafts.iter().map(|draft| draft.id).collect();
    drafts[0].state = TaskState::Done;
    drafts[1].after = vec![ids[0]];
    drafts[2].after = vec![ids[0], ids[1]];
    rig.imported(&drafts);
    rig.add(drafts).await;
    assert_eq!(rig.state(ids[0]).await, TaskState::Done);
    assert_eq!(rig.get(ids[1]).await.task.status(rig.now()), Status::Ready);
    assert_eq!(rig.get(ids[2]).await.task.open_deps, 1);
    rig.finish(ids[1]).await;
    assert_eq!(rig.get(ids[2]).await.task.status(rig.now()), Status::Ready);
}

async fn five_thousand_tasks_come_in_at_once(rig: &Rig) {
    const MANY: usize = 5_000;
    let mut drafts = rig.drafts(MANY).await;
    for at in 1..MANY {
        let before = drafts[at - 1].id;
        drafts[at].after = if at % 100 == 0 { Vec::new() } else { vec![before] };
    }
    let ids = rig.add(drafts).await;
    assert_eq!(ids.len(), MANY);
    let ready = rig.ok(ListReady { filter: TaskFilter::default(), limit: 1_000, now: rig.now() }).await;
    let heads: Vec<TaskId> = ids.iter().copied().step_by(100).collect();
    assert_eq!(ready.tasks.iter().map(|task| task.id).collect::<Vec<_>>(), heads);
    assert_eq!(rig.export(None).await.len(), MANY);
    let news = rig.news().await;
    assert_eq!(news.len(), MANY + 1);
    let order: Vec<_> = news[1..].iter().map(|event| event.subject.task.unwrap()).collect();
    assert_eq!(order, ids, "told in the order of the batch");
    let again = NewTask { id: ids[MANY - 1], ..rig.draft("again").await };
    let mut more = rig.drafts(600).await;
    more.push(again);
    let Err(error) = rig.store.call(rig.adding(more)).await else { panic!("an id was used twice") };
    assert!(matches!(error, StoreError::TaskExists(_)), "{error}");
    assert_eq!(rig.export(None).await.len(), MANY, "nothing of a refused batch stays, however long it is");
}
