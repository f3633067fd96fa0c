//! Dependencies between tasks that exist.

use fleet_core::event::Fact;
use fleet_core::id::TaskId;
use fleet_core::run::{Ending, Reason};
use fleet_core::task::{Status, TaskMove, TaskState};
use fleet_store::StoreError;
use fleet_store::ops::{DependencyTree, EndRun, TasksBefore};

use crate::harness::Rig;

story! {
    a_dependency_blocks_until_it_is_done
    adding_a_dependency_again_changes_nothing
    a_dependency_on_a_done_task_does_not_block
    taking_a_dependency_away_releases
    circles_are_refused_with_their_path
    a_task_at_work_or_over_takes_no_new_dependency
    unknown_tasks_and_edges_are_named
    the_tree_ends_at_what_is_done
    what_the_tasks_before_left_is_told_oldest_first
}

async fn status(rig: &Rig, id: TaskId) -> Status {
    rig.get(id).await.task.status(rig.now())
}

async fn a_dependency_blocks_until_it_is_done(rig: &Rig) {
    let [first, second] = rig.tasks(2).await[..] else { panic!("two tasks") };
    rig.news().await;
    rig.pass(std::time::Duration::from_secs(1));
    let (task, new) = rig.ok(rig.depending(second, first)).await;
    assert!(new);
    assert_eq!((task.open_deps, task.version, task.updated_at), (1, 2, rig.now()));
    assert_eq!(task.status(rig.now()), Status::Blocked);
    assert_eq!(rig.facts().await, [Fact::DependencyAdded { on: first }]);
    let claimed = rig.claim(10).await;
    assert_eq!(claimed.iter().map(|claimed| claimed.task.id).collect::<Vec<_>>(), [first]);
    rig.work(&claimed[0].run).await;
    assert_eq!(status(rig, second).await, Status::Blocked, "a run that is nearly over is not over");
    rig.end(&claimed[0].run, Ending::Succeeded).await;
    let task = rig.get(second).await.task;
    assert_eq!((task.open_deps, task.version, task.status(rig.now())), (0, 3, Status::Ready));
    assert_eq!(rig.kinds().await, ["task.started", "run.moved", "run.moved", "task.done"]);
}

async fn adding_a_dependency_again_changes_nothing(rig: &Rig) {
    let [first, second] = rig.tasks(2).await[..] else { panic!("two tasks") };
    rig.ok(rig.depending(second, first)).await;
    let before = rig.place().dump().await;
    rig.pass(std::time::Duration::from_secs(1));
    let (task, new) = rig.ok(rig.depending(second, first)).await;
    assert_eq!((new, task.open_deps), (false, 1));
    assert_eq!(rig.place().dump().await, before);
}

async fn a_dependency_on_a_done_task_does_not_block(rig: &Rig) {
    let [first, second] = rig.tasks(2).await[..] else { panic!("two tasks") };
    rig.finish(first).await;
    rig.news().await;
    let (task, new) = rig.ok(rig.depending(second, first)).await;
    assert_eq!((new, task.open_deps, task.status(rig.now())), (true, 0, Status::Ready));
    let task = rig.ok(rig.undepending(second, first)).await;
    assert_eq!((task.open_deps, task.status(rig.now())), (0, Status::Ready), "not counted, so not uncounted");
    let (added, removed) = (Fact::DependencyAdded { on: first }, Fact::DependencyRemoved { on: first });
    assert_eq!(rig.facts().await, [added, removed]);
}

async fn taking_a_dependency_away_releases(rig: &Rig) {
    let [first, other, second] = rig.tasks(3).await[..] else { panic!("three tasks") };
    rig.ok(rig.depending(second, first)).await;
    rig.ok(rig.depending(second, other)).await;
    rig.news().await;
    let task = rig.ok(rig.undepending(second, first)).await;
    assert_eq!((task.open_deps, task.status(rig.now())), (1, Status::Blocked));
    let task = rig.ok(rig.undepending(second, other)).await;
    assert_eq!((task.open_deps, task.status(rig.now())), (0, Status::Ready));
    assert_eq!(task.version, 5);
    let removed = |on| Fact::DependencyRemoved { on };
    assert_eq!(rig.facts().await, [removed(first), removed(other)]);
    rig.finish(first).await;
    assert_eq!(rig.get(second).await.task.open_deps, 0, "what is not waited for is not counted");
}

async fn circles_are_refused_with_their_path(rig: &Rig) {
    let ids = rig.tasks(9).await;
    let circle = async |task: TaskId, on: TaskId| match rig.refused(rig.depending(task, on)).await {
        StoreError::Cycle { path } => path,
        other => panic!("{other}"),
    };
    assert_eq!(circle(ids[0], ids[0]).await, [ids[0], ids[0]], "a task cannot wait for itself");
    for pair in ids.windows(2) {
        rig.ok(rig.depending(pair[1], pair[0])).await;
    }
    assert_eq!(circle(ids[0], ids[1]).await, [ids[0], ids[1], ids[0]]);
    let long = circle(ids[0], ids[8]).await;
    let expected: Vec<TaskId> = [ids[0]].into_iter().chain(ids.iter().rev().copied()).collect();
    assert_eq!(long, expected, "every step is named, from end to end");
    let error = StoreError::Cycle { path: long }.to_string();
    assert!(ids.iter().all(|id| error.contains(id.as_str())), "{error}");
    rig.ok(rig.depending(ids[8], ids[0])).await;
    assert_eq!(circle(ids[0], ids[8]).await, [ids[0], ids[8], ids[0]], "the shortest one");
    assert_eq!(rig.kinds().await.iter().filter(|kind| *kind == "task.dependency_added").count(), 9);
}

async fn a_task_at_work_or_over_takes_no_new_dependency(rig: &Rig) {
    let ids = rig.tasks(7).await;
    let on = ids[6];
    let runs = rig.claim(4).await;
    let [running, done, failed, waiting] = [&runs[0].run, &runs[1].run, &runs[2].run, &runs[3].run];
    rig.succeed(done).await;
    rig.end(failed, Ending::Failed(Reason::Auth, "no".to_owned())).await;
    rig.work(waiting).await;
    rig.end(waiting, Ending::Asked).await;
    rig.moved(ids[4], TaskMove::Hold).await;
    rig.moved(ids[5], TaskMove::Cancel).await;
    for id in [running.task, done.task, ids[5]] {
        let from = rig.state(id).await;
        let error = rig.refused(rig.depending(id, on)).await;
        assert!(
            matches!(error, StoreError::NotNow { task, from: was, .. } if task == id && was == from),
            "{error}"
        );
    }
    for (id, state) in
        [(failed.task, TaskState::Failed), (waiting.task, TaskState::Waiting), (ids[4], TaskState::Held)]
    {
        let (task, new) = rig.ok(rig.depending(id, on)).await;
        assert_eq!((task.state(), task.open_deps, new), (state, 1, true));
        let back = if state == TaskState::Held { TaskMove::Release } else { TaskMove::Retry };
        assert_eq!(rig.moved(id, back).await.status(rig.now()), Status::Blocked);
    }
    rig.end(running, Ending::Released("later".to_owned())).await;
    rig.moved(running.task, TaskMove::Cancel).await;
    rig.finish(on).await;
    for id in [failed.task, waiting.task, ids[4]] {
        assert_eq!(status(rig, id).await, Status::Ready);
    }
    assert_eq!(rig.kinds().await.iter().filter(|kind| *kind == "task.dependency_added").count(), 3);
}

async fn unknown_tasks_and_edges_are_named(rig: &Rig) {
    let [first, second] = rig.tasks(2).await[..] else { panic!("two tasks") };
    let nobody: TaskId = rig.id();
    let missing =
        |error: &StoreError| matches!(error, StoreError::TaskNotFound(text) if *text == nobody.to_string());
    assert!(missing(&rig.refused(rig.depending(first, nobody)).await));
    assert!(missing(&rig.refused(rig.depending(nobody, first)).await));
    assert!(missing(&rig.refused(rig.undepending(nobody, first)).await));
    for on in [second, nobody] {
        let error = rig.refused(rig.undepending(first, on)).await;
        let named =
            matches!(error, StoreError::NoSuchDependency { task, on: named } if task == first && named == on);
        assert!(named, "{error}");
    }
    rig.ok(rig.depending(second, first)).await;
    let error = rig.refused(rig.undepending(first, second)).await;
    assert!(matches!(error, StoreError::NoSuchDependency { .. }), "an edge has a direction: {error}");
    let kinds = rig.kinds().await;
    assert_eq!(kinds[kinds.len() - 1..], ["task.dependency_added"]);
}

async fn the_tree_ends_at_what_is_done(rig: &Rig) {
    let root = rig.task("root").await;
    let done = rig.task_after("done", &[root]).await;
    rig.finish(root).await;
    rig.finish(done).await;
    let open = rig.task_after("open", &[done]).await;
    let last = rig.task_after("last", &[open, done]).await;
    let tree = |with_done| DependencyTree { roots: vec![last], with_done, limit: DependencyTree::EVERYTHING };
    let edges = async |with_done| -> Vec<(TaskId, TaskId)> {
        rig.ok(tree(with_done)).await.edges.into_iter().map(|edge| (edge.task, edge.on)).collect()
    };
    assert_eq!(edges(false).await, [(last, open)]);
    assert_eq!(edges(true).await, [(done, root), (open, done), (last, done), (last, open)]);
    let graph = rig.ok(tree(true)).await;
    assert_eq!(graph.nodes.len(), 4);
    assert_eq!((graph.nodes[&root].state, graph.nodes[&root].title.as_str()), (TaskState::Done, "root"));
    assert_eq!(rig.kinds().await.iter().filter(|kind| *kind == "task.added").count(), 4);
}

async fn what_the_tasks_before_left_is_told_oldest_first(rig: &Rig) {
    let [first, second, third] = rig.tasks(3).await[..] else { panic!("three tasks") };
    let foreign = rig.draft_in(rig.project("/elsewhere").await, "foreign");
    let foreign = rig.add_one(foreign).await;
    rig.ok(rig.depending(second, first)).await;
    let last = rig.task_after("last", &[third, foreign, second, first]).await;
    let run = rig.start(first).await;
    rig.work(&run).await;
    let unreadable = Some("{}".to_owned());
    rig.ok(EndRun { result: unreadable, ..rig.ending(&run, Ending::Succeeded) }).await;
    let before = rig.ok(TasksBefore { task: last }).await;
    let ids: Vec<TaskId> = before.iter().map(|before| before.task.id).collect();
    assert_eq!(ids, [first, second, third], "those of other repositories are left out");
    let runs: Vec<_> = before.iter().map(|before| before.run.as_ref().map(|run| run.id)).collect();
    assert_eq!(runs, [Some(run.id), None, None]);
    let waits: Vec<bool> = before.iter().map(|before| before.has_dependencies).collect();
    assert_eq!(waits, [false, true, false]);
    assert!(before[0].result.is_none());
    assert!(rig.ok(TasksBefore { task: first }).await.is_empty());
    assert!(!rig.detail(&run).await.has_dependencies);
    let next = rig.start(second).await;
    assert!(rig.detail(&next).await.has_dependencies);
}
