//! Ending a run in the store alone.

use std::path::Path;

use fleet_core::run::RunState;
use fleet_testkit::repo::Repo;

use super::*;
use crate::Start;
use crate::environment::Environment;
use crate::verbs::task_add;

fn engine(home: &Path, repo: &Repo) -> Engine {
    let environment = Environment::from_pairs([("FLEET_HOME", home), ("HOME", home)]);
    Engine::new(Start { environment, directory: Some(repo.path().to_owned()), flags: Vec::new() }).unwrap()
}

/// A run that was claimed here.
async fn claimed(engine: &Engine, place: &str) -> Run {
    let request = fleet_api::verbs::task_add::Request { title: "x".to_owned(), ..Default::default() };
    task_add::run(engine, request).await.unwrap();
    let claim = ops::Claim {
        runner: "runner".to_owned(),
        place: place.to_owned(),
        runs: vec![engine.new_id().unwrap()],
        default_agent: "demo".parse().unwrap(),
        able: None,
        projects: None,
        accounts: BTreeMap::default(),
        caps: fleet_core::schedule::Caps::default(),
        budget: None,
        lease: Duration::from_secs(30),
        now: engine.now(),
    };
    engine.call(claim).await.unwrap().remove(0).run
}

#[tokio::test]
async fn a_run_that_nobody_can_save_ends_once_nobody_acts_for_it() {
    let (dir, repo) = (tempfile::tempdir().unwrap(), Repo::init());
    repo.commit("one");
    let engine = engine(dir.path(), &repo);
    let reconciler = Reconciler::new(&engine).unwrap();
    let run = claimed(&engine, reconciler.place()).await;
    let now = async || engine.call(ops::GetRun { run: run.id }).await.unwrap().run;
    let mark = reconciler.home.live_run(run.id);
    make_private(&reconciler.home.live()).unwrap();
    let somebody = Exclusive::try_acquire(&mark).unwrap().unwrap();
    assert!(!reconciler.give_up(run.id).await.unwrap(), "somebody acts for it");
    assert!(now().await.state.is_live());
    drop(somebody);
    assert!(reconciler.give_up(run.id).await.unwrap());
    let ended = now().await;
    assert_eq!((ended.state, ended.reason), (RunState::Failed, Some(Reason::WorkspaceFailed)));
    assert!(ended.detail.as_deref().unwrap().contains("could not be saved in time"), "{ended:?}");
    assert!(mark.exists(), "what it left is tried again");
    assert!(reconciler.give_up(run.id).await.unwrap(), "it is over");
    assert_eq!(now().await, ended);
}
