//! Engines for tests, and runs for them to ask about.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use fleet_api::TaskFields;
use fleet_api::verbs::task_add::Request;
use fleet_core::id::{RunId, TaskId};
use fleet_core::project::Project;
use fleet_core::schedule::Caps;
use fleet_store::ops;
use fleet_testkit::repo::Repo;
use tempfile::TempDir;

use crate::environment::Environment;
use crate::verbs::task_add;
use crate::{Engine, EngineStart};

/// An engine with its own home and repository, which end with it.
pub(crate) struct ScratchEngine {
    pub(crate) engine: Engine,
    _folders: (Repo, TempDir),
}

impl ScratchEngine {
    pub(crate) fn new() -> Self {
        let (repo, home) = (Repo::init(), tempfile::tempdir().unwrap());
        let environment = Environment::from_pairs([("FLEET_HOME", home.path())]);
        let start = EngineStart { environment, directory: Some(repo.path().to_owned()), flags: Vec::new() };
        Self { engine: Engine::new(start).unwrap(), _folders: (repo, home) }
    }

    pub(crate) fn run(test: impl AsyncFnOnce(&Engine)) {
        let scratch = Self::new();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(test(&scratch.engine));
    }
}

/// An engine in a repository that others share, as are its home and the home folder of its user.
pub(crate) fn engine_in(repo: &Repo, home: &Path) -> Engine {
    let home = home.to_str().unwrap();
    let variables =
        [("FLEET_HOME", home), ("HOME", home), ("FLEET_AUTOSTART", "false"), ("PATH", "/usr/bin:/bin")];
    let environment = Environment::from_pairs(variables).with_current_directory(repo.path());
    Engine::new(EngineStart { environment, directory: Some(repo.path().to_owned()), flags: Vec::new() })
        .unwrap()
}

/// A task with a run that was claimed.
pub(crate) struct ClaimedTask {
    pub(crate) task: TaskId,
    pub(crate) run: RunId,
    pub(crate) project: Project,
}

impl ClaimedTask {
    pub(crate) async fn add(engine: &Engine, request: Request) -> Self {
        let fields = TaskFields { agent: Some("demo".to_owned()), ..request.fields };
        let request = Request { fields, ..request };
        let task = task_add::run(engine, request).await.unwrap().task.unwrap().id;
        let claim = ops::Claim {
            runner: "r".to_owned(),
            place: engine.place().unwrap(),
            runs: vec![engine.new_id().unwrap()],
            only: ops::ClaimOnly::Any,
            default_agent: "demo".parse().unwrap(),
            able: None,
            projects: None,
            accounts: BTreeMap::default(),
            caps: Caps::default(),
            budget: None,
            lease: Duration::from_mins(10),
            now: engine.now(),
        };
        let run = engine.call(claim).await.unwrap().remove(0).run;
        assert_eq!(run.task, task);
        Self { task, run: run.id, project: engine.project().await.unwrap() }
    }
}
