//! Tasks that agents add.

use fleet_core::id::RunId;
use fleet_core::task::{Spawn, Task, TaskMove, TooDeep};
use fleet_store::StoreError;
use fleet_store::ops::{AddTasks, Author, MAX_ADDED};

use crate::harness::Rig;

story! {
    the_task_of_an_agent_knows_its_parent
    so_many_generations_and_no_more
    a_run_that_is_not_there_adds_nothing
    a_run_that_is_over_adds_nothing
    the_agents_of_a_task_add_no_more_than_people_can_look_at
}

async fn adding(rig: &Rig, author: Author) -> AddTasks {
    AddTasks { author, ..rig.adding(rig.drafts(1).await) }
}

fn agent(run: RunId) -> Author {
    Author::Agent { run, spawn_depth: 100 }
}

async fn add(rig: &Rig, author: Author) -> Task {
    rig.ok(adding(rig, author).await).await.remove(0)
}

async fn the_task_of_an_agent_knows_its_parent(rig: &Rig) {
    let run = rig.start(rig.task("one").await).await;
    let child = add(rig, agent(run.id)).await;
    assert_eq!(child.spawn, Spawn { parent: Some(run.id), depth: 1, most: 2 });
    assert_eq!(rig.get(child.id).await.task, child, "and it is kept");
    let lowered = Author::Agent { run: run.id, spawn_depth: 1 };
    assert_eq!(add(rig, lowered).await.spawn.most, 1);
}

async fn so_many_generations_and_no_more(rig: &Rig) {
    for most in 0..3 {
        let mut task = add(rig, Author::Person { spawn_depth: most }).await;
        assert_eq!(task.spawn, Spawn::of_a_person(most));
        for depth in 1..=most {
            let run = rig.start(task.id).await;
            task = add(rig, agent(run.id)).await;
            assert_eq!(task.spawn.depth, depth);
        }
        let run = rig.start(task.id).await;
        let refused = rig.refused(adding(rig, agent(run.id)).await).await;
        let StoreError::TooDeep(refused) = refused else { panic!("{refused}") };
        assert_eq!(refused, TooDeep { run: run.id, depth: most + 1, most });
    }
}

async fn a_run_that_is_not_there_adds_nothing(rig: &Rig) {
    let error = rig.refused(adding(rig, agent(rig.id())).await).await;
    assert!(matches!(error, StoreError::RunNotFound(_)), "{error}");
}

async fn a_run_that_is_over_adds_nothing(rig: &Rig) {
    let run = rig.start(rig.task("one").await).await;
    rig.succeed(&run).await;
    let error = rig.refused(adding(rig, agent(run.id)).await).await;
    assert!(matches!(error, StoreError::LeaseLost { .. }), "{error}");
}

async fn the_agents_of_a_task_add_no_more_than_people_can_look_at(rig: &Rig) {
    let run = rig.start(rig.task("one").await).await;
    let many = |count: usize| async move {
        AddTasks { author: agent(run.id), ..rig.adding(rig.drafts(count).await) }
    };
    let added = rig.ok(many(MAX_ADDED).await).await;
    let refused = rig.refused(many(1).await).await;
    assert!(matches!(refused, StoreError::TooManyAdded { task, .. } if task == run.task), "{refused}");
    rig.moved(added[0].id, TaskMove::Cancel).await;
    rig.ok(many(1).await).await;
    rig.task("a person adds what they want").await;
}
