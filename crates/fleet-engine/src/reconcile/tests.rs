//! Ending a run in the store alone.

use fleet_api::verbs::task_add::Request;
use fleet_core::run::RunState;
use fleet_host::git::{self, OpenRequest, StartAt};
use fleet_testkit::repo::Repo;

use super::*;
use crate::scratch::{ClaimedTask, engine_in};

#[tokio::test]
async fn a_run_that_nobody_can_save_ends_once_nobody_acts_for_it() {
    let (dir, repo) = (tempfile::tempdir().unwrap(), Repo::init());
    repo.commit("one");
    let engine = engine_in(&repo, dir.path());
    let reconciler = Reconciler::new(&engine).unwrap();
    let request = Request { title: "x".to_owned(), ..Request::default() };
    let run = ClaimedTask::add(&engine, request).await.run;
    let now = async || engine.call(ops::GetRun { run }).await.unwrap().run;
    let mark = reconciler.home.live_run(run);
    make_private(&reconciler.home.live()).unwrap();
    let somebody = Exclusive::try_acquire(&mark).unwrap().unwrap();
    assert!(!reconciler.give_up(run).await.unwrap(), "somebody acts for it");
    assert!(now().await.state.is_live());
    drop(somebody);
    assert!(reconciler.give_up(run).await.unwrap());
    let ended = now().await;
    assert_eq!((ended.state(), ended.reason), (RunState::Failed, Some(Reason::WorkspaceFailed)));
    assert!(ended.detail.as_deref().unwrap().contains("could not be saved in time"), "{ended:?}");
    assert!(mark.exists(), "what it left is tried again");
    assert!(reconciler.give_up(run).await.unwrap(), "it is over");
    assert_eq!(now().await, ended);
}

#[tokio::test]
async fn a_run_whose_keeper_is_unknown_and_has_a_workspace_is_repaired() {
    let (dir, repo) = (tempfile::tempdir().unwrap(), Repo::init());
    repo.commit("one");
    let engine = engine_in(&repo, dir.path());
    let reconciler = Reconciler::new(&engine).unwrap();
    let request = Request { title: "x".to_owned(), ..Request::default() };
    let run = ClaimedTask::add(&engine, request).await.run;
    let detail = engine.call(ops::GetRun { run }).await.unwrap();
    let area = reconciler.home.area(&detail.project, engine.config().unwrap());
    git::open_vault(&area.repo, &area.vault).unwrap();
    let head = git::head_commit(&area.repo).unwrap();
    let open = OpenRequest::new(run.to_string(), "x", StartAt::New(head));
    // Its keeper was killed before the store knew of it.
    drop(area.open(&open).unwrap());
    assert!(!reconciler.give_back(run).await.unwrap());
    assert!(reconciler.take_over(run).await.unwrap().is_some());
    let ended = engine.call(ops::GetRun { run }).await.unwrap().run;
    assert_eq!(ended.detail.as_deref(), Some(NEVER_BEGAN), "nothing counts against the task");
    assert!(area.slots().unwrap().iter().all(|slot| slot.state == SlotState::Free));
}
