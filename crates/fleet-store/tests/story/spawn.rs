//! Tasks that agents add.

use fleet_core::id::{RunId, TaskId};
use fleet_core::run::Run;
use fleet_core::task::{Spawn, Task, TooDeep};
use fleet_store::StoreError;
use fleet_store::ops::{AddTasks, Author, OwnTask, Prepared, Proof};

use crate::harness::Rig;

story! {
    the_task_of_an_agent_knows_its_parent
    so_many_generations_and_no_more
    nobody_adds_in_the_name_of_another
    a_run_that_is_over_adds_nothing
    an_agent_of_another_fleet_is_nobody_here
    what_an_agent_works_on_is_told_to_nobody_else
}

const HASH: &str = "the hash of a secret";

/// Starts the task with a secret.
async fn started(rig: &Rig, task: TaskId) -> Run {
    let run = rig.start(task).await;
    rig.ok(rig.preparing(&run, Prepared { token_hash: Some(HASH.to_owned()), ..Prepared::default() })).await;
    run
}

async fn adding(rig: &Rig, author: Author) -> AddTasks {
    AddTasks { author, ..rig.adding(rig.drafts(1).await) }
}

fn agent(run: RunId) -> Author {
    Author::Agent { run, proof: Proof::Token(HASH.to_owned()), spawn_depth: 100 }
}

fn seen(run: RunId) -> Author {
    Author::Agent { run, proof: Proof::Seen, spawn_depth: 100 }
}

async fn add(rig: &Rig, author: Author) -> Task {
    rig.ok(adding(rig, author).await).await.remove(0)
}

async fn the_task_of_an_agent_knows_its_parent(rig: &Rig) {
    let run = started(rig, rig.task("one").await).await;
    for author in [agent(run.id), seen(run.id)] {
        let child = add(rig, author).await;
        assert_eq!(child.spawn, Spawn { parent: Some(run.id), depth: 1, most: 2 });
        assert_eq!(rig.get(child.id).await.task, child, "and it is kept");
    }
    let lowered = Author::Agent { run: run.id, proof: Proof::Seen, spawn_depth: 1 };
    assert_eq!(add(rig, lowered).await.spawn.most, 1);
}

async fn so_many_generations_and_no_more(rig: &Rig) {
    for most in 0..3 {
        let mut task = add(rig, Author::Person { spawn_depth: most }).await;
        assert_eq!(task.spawn, Spawn::of_a_person(most));
        for depth in 1..=most {
            let run = started(rig, task.id).await;
            task = add(rig, agent(run.id)).await;
            assert_eq!(task.spawn.depth, depth);
        }
        let run = started(rig, task.id).await;
        let refused = rig.refused(adding(rig, agent(run.id)).await).await;
        let StoreError::TooDeep(refused) = refused else { panic!("{refused}") };
        assert_eq!(refused, TooDeep { run: run.id, depth: most + 1, most });
    }
}

async fn nobody_adds_in_the_name_of_another(rig: &Rig) {
    let run = started(rig, rig.task("one").await).await;
    for hash in ["", "another"] {
        let proof = Proof::Token(hash.to_owned());
        let author = Author::Agent { run: run.id, proof, spawn_depth: 2 };
        let error = rig.refused(adding(rig, author).await).await;
        assert!(matches!(error, StoreError::TokenRefused { .. }), "{error}");
    }
    let error = rig.refused(adding(rig, agent(rig.id())).await).await;
    assert!(matches!(error, StoreError::RunNotFound(_)), "{error}");
}

async fn a_run_that_is_over_adds_nothing(rig: &Rig) {
    let run = started(rig, rig.task("one").await).await;
    rig.succeed(&run).await;
    for author in [agent(run.id), seen(run.id)] {
        let error = rig.refused(adding(rig, author).await).await;
        assert!(matches!(error, StoreError::LeaseLost { .. }), "{error}");
    }
}

async fn an_agent_of_another_fleet_is_nobody_here(rig: &Rig) {
    let task = add(rig, seen(rig.id())).await;
    assert_eq!(task.spawn, Spawn::of_a_person(100));
}

async fn what_an_agent_works_on_is_told_to_nobody_else(rig: &Rig) {
    let task = rig.task("one").await;
    let run = started(rig, task).await.id;
    for proof in [Proof::Token(HASH.to_owned()), Proof::Seen] {
        assert_eq!(rig.ok(OwnTask { run, proof }).await, Some(task));
    }
    let error = rig.refused(OwnTask { run, proof: Proof::Token(String::new()) }).await;
    assert!(matches!(error, StoreError::TokenRefused { .. }), "{error}");
    let (run, proof) = (rig.id(), Proof::Token(HASH.to_owned()));
    let error = rig.refused(OwnTask { run, proof }).await;
    assert!(matches!(error, StoreError::RunNotFound(_)), "{error}");
    assert_eq!(rig.ok(OwnTask { run, proof: Proof::Seen }).await, None);
}
