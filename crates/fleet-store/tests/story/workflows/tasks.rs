//! What the keeper of a stage is told.

use fleet_core::run::RunMove;
use fleet_core::task::{Spawn, Tuning};
use fleet_core::workflow::{Copies, PartState, Skip};
use fleet_store::ops::{AddWorkflow, Author, EndRun, PartInputs, Prepared};

use super::acts::{BASE, result, spec, stage};
use crate::harness::Rig;

story! {
    a_stage_is_told_what_those_before_it_left
    a_task_that_is_no_stage_is_told_nothing
    ids_that_are_taken_are_drawn_again
    what_a_stage_asks_of_its_agent_reaches_its_task
    the_stages_of_an_agents_workflow_are_as_deep_as_its_tasks
}

use PartState::{Done, Failed};

async fn a_stage_is_told_what_those_before_it_left(rig: &Rig) {
    let mut stages = vec![stage("a", &[]), stage("b", &[0]), stage("c", &[1]), stage("d", &[])];
    stages[1].copies = Copies::Count(2);
    stages[0].retries = Some(1);
    let id = rig.workflow(spec(stages)).await;
    let mut runs = rig.claim_all().await;
    let first = runs.remove(&rig.task_of(id, "a").await).unwrap();
    rig.ok(rig.ending_as(&first, Failed)).await;
    rig.pass(std::time::Duration::from_hours(1));
    let run = rig.run_of(id, "a").await;
    let prepared = Prepared {
        branch: Some("fleet/a".to_owned()),
        base: Some(BASE.to_owned()),
        workspace: Some("/w".to_owned()),
        ..Prepared::default()
    };
    rig.ok(rig.preparing(&run, prepared)).await;
    rig.ok(rig.advancing(&run, RunMove::Start)).await;
    rig.ok(rig.advancing(&run, RunMove::Exit)).await;
    rig.ok(rig.ending_as(&run, Done)).await;
    rig.play(id, &[("b-2", Done), ("b-1", Done)]).await;
    let told = rig.ok(PartInputs { task: rig.task_of(id, "c").await }).await.expect("a stage");
    assert_eq!((told.workflow.id, told.name.as_str(), told.part.stage), (id, "c", 2));
    assert_eq!(told.spec.stages.len(), 4);
    let names: Vec<&str> = told.upstream.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(names, ["a", "b-1", "b-2"], "not what it has nothing to do with");
    let a = &told.upstream[0];
    let from = a.run.as_ref().unwrap();
    assert_eq!(
        (from.id, from.branch.as_deref(), from.workspace.as_deref()),
        (run.id, Some("fleet/a"), Some("/w"))
    );
    assert_eq!((a.part.state.get(), a.result.as_ref()), (Done, Some(&result())));
}

async fn a_task_that_is_no_stage_is_told_nothing(rig: &Rig) {
    let task = rig.task("alone").await;
    assert!(rig.ok(PartInputs { task }).await.is_none());
    let id = rig.workflow(spec(vec![stage("a", &[]), stage("b", &[0])])).await;
    assert!(rig.ok(PartInputs { task: rig.task_of(id, "a").await }).await.unwrap().upstream.is_empty());
    let run = rig.run_of(id, "a").await;
    let unreadable = Some("{\"status\": \"from the future\"}".to_owned());
    rig.work(&run).await;
    rig.ok(EndRun { result: unreadable, ..rig.ending_as(&run, Done) }).await;
    let told = rig.ok(PartInputs { task: rig.task_of(id, "b").await }).await.unwrap();
    assert!(told.upstream[0].run.is_some() && told.upstream[0].result.is_none());
    assert_eq!(told.upstream[0].part.skip, None::<Skip>);
}

/// The ids of tasks follow from that of the workflow and from the clock: a workflow that is removed and added again at
/// the same moment wants the same.
async fn ids_that_are_taken_are_drawn_again(rig: &Rig) {
    let add = rig.workflow_adding(spec(vec![stage("a", &[]), stage("b", &[])])).await;
    let id = rig.ok(add.clone()).await.id;
    let first = rig.task_of(id, "a").await;
    rig.ok(rig.cancelling(id)).await;
    rig.place().execute("DELETE FROM parts").await;
    rig.place().execute("DELETE FROM workflow_texts").await;
    rig.place().execute("DELETE FROM workflows").await;
    rig.place().execute("UPDATE tasks SET workflow = NULL").await;
    rig.ok(add).await;
    assert_ne!(rig.task_of(id, "a").await, first);
}

async fn what_a_stage_asks_of_its_agent_reaches_its_task(rig: &Rig) {
    let mut asks = stage("a", &[]);
    (asks.effort, asks.extra_args) = (Some("high".to_owned()), vec!["--verbose".to_owned()]);
    let id = rig.workflow(spec(vec![asks])).await;
    let task = rig.get(rig.task_of(id, "a").await).await.task;
    let expected = Tuning { effort: Some("high".to_owned()), args: vec!["--verbose".to_owned()] };
    assert_eq!(task.spec.tuning, expected);
}

/// Also those that start long after the run has ended whose agent wanted them.
async fn the_stages_of_an_agents_workflow_are_as_deep_as_its_tasks(rig: &Rig) {
    let run = rig.start(rig.task("asks for help").await).await;
    let author = Author::Agent { run: run.id, spawn_depth: 9 };
    let add = rig.workflow_adding(spec(vec![stage("a", &[]), stage("b", &[0])])).await;
    let id = rig.ok(AddWorkflow { author, ..add }).await.id;
    rig.succeed(&run).await;
    rig.play(id, &[("a", Done)]).await;
    let expected = Spawn { parent: Some(run.id), depth: 1, most: 2 };
    for name in ["a", "b"] {
        assert_eq!(rig.get(rig.task_of(id, name).await).await.task.spawn, expected);
    }
    assert_eq!(rig.workflow_detail(id).await.workflow.spawn, expected);
}
