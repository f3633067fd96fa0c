//! A repository, and a fleet whose agent runs what its prompt says.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use fleet_api::TaskFields;
use fleet_api::verbs::task_add;
use fleet_core::run::{Run, RunState};
use fleet_core::schedule::Caps;
use fleet_engine::environment::Environment;
use fleet_engine::home::{Home, RunFolder};
use fleet_engine::keeper::{self, Ticket};
use fleet_engine::{Engine, EngineStart, clock};
use fleet_store::ops;
use fleet_testkit::repo::Repo;

/// An agent that runs the part of its prompt between two lines.
const AGENT: &str = "sed -n '/^RUN$/,/^END$/p' \"$1\" | sed '1d;$d' > \"$HOME/script\"; . \"$HOME/script\"";

/// A report that claims nothing.
pub(crate) const DONE: &str = r#"echo '{"summary": "did it", "status": "completed"}'"#;

pub(crate) struct Rig {
    pub(crate) repo: Repo,
    home: tempfile::TempDir,
    pub(crate) engine: Engine,
}

impl Rig {
    /// One where checks may take so long.
    pub(crate) fn new(check_time: &str) -> Self {
        Self::with_workspaces(&format!("check_time = '{check_time}'"))
    }

    /// One with this setting of workspaces.
    pub(crate) fn with_workspaces(setting: &str) -> Self {
        let (repo, home) = (Repo::init(), tempfile::tempdir().unwrap());
        fs::write(home.path().join("agent.sh"), AGENT).unwrap();
        let config = format!(
            "agent = 'play'\n[workspaces]\n{setting}\n[agents.play]\nprogram = '/bin/sh'\n\
             args = ['{}', '{{prompt_file}}', 'effort:{{effort}}']\nprompt = 'file'\noutput = 'lines'\n",
            home.path().join("agent.sh").display()
        );
        fs::write(home.path().join("config.toml"), config).unwrap();
        let path = std::env::var_os("PATH").unwrap();
        let here = home.path().as_os_str().to_owned();
        let environment =
            Environment::from_pairs([("FLEET_HOME", here.clone()), ("HOME", here), ("PATH", path)])
                .with_current_directory(repo.path());
        let engine = Engine::new(EngineStart { environment, directory: None, flags: Vec::new() }).unwrap();
        Self { repo, home, engine }
    }

    /// Claims the next task and keeps its run until the end. The wait before a retry is over by then.
    pub(crate) async fn play(&self) -> Option<Run> {
        self.play_at("here").await
    }

    /// The same, at a place of this name.
    pub(crate) async fn play_at(&self, place: &str) -> Option<Run> {
        let claim = ops::Claim {
            runner: "test".to_owned(),
            place: place.to_owned(),
            runs: vec![self.engine.new_id().unwrap()],
            only: ops::ClaimOnly::Any,
            default_agent: "play".parse().unwrap(),
            able: None,
            projects: None,
            accounts: BTreeMap::new(),
            caps: Caps::default(),
            budget: None,
            lease: Duration::from_mins(5),
            now: clock::now().plus(Duration::from_hours(1)),
        };
        let run = self.engine.call(claim).await.unwrap().pop()?.run;
        let ticket = Ticket { run: run.id, attempt: run.attempt, slots: 1 };
        Box::pin(keeper::run(&self.engine, ticket)).await.unwrap();
        Some(self.engine.call(ops::GetRun { run: run.id }).await.unwrap().run)
    }

    pub(crate) fn folder(&self, run: &Run) -> RunFolder {
        Home::new(self.home.path()).run(run.id)
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// Adds a task whose agent runs a script.
    pub(crate) async fn add(&self, script: &str, after: &[&str]) -> String {
        self.add_with(script, after, TaskFields::default()).await
    }

    pub(crate) async fn add_with(&self, script: &str, after: &[&str], fields: TaskFields) -> String {
        let request = task_add::Request {
            title: "Work".to_owned(),
            after: after.iter().map(ToString::to_string).collect(),
            fields: TaskFields {
                description: Some(format!("RUN\n{script}\n{DONE}\nEND\n")),
                retries: Some(1),
                ..fields
            },
            ..task_add::Request::default()
        };
        let added = fleet_api::call(&self.engine, None, &request).await.unwrap();
        added.task.unwrap().id.to_string()
    }

    /// Plays the next task, which must succeed.
    pub(crate) async fn done(&self) -> Run {
        let run = self.play().await.unwrap();
        assert_eq!(run.state.get(), RunState::Succeeded, "{run:?}");
        run
    }

    /// The commit at the tip of a run's branch.
    #[track_caller]
    pub(crate) fn tip(&self, run: &Run) -> String {
        self.repo.git(&["rev-parse", run.branch.as_deref().unwrap()])
    }

    pub(crate) fn files(&self, commit: &str) -> Vec<String> {
        self.repo.git(&["ls-tree", "--name-only", commit]).lines().map(ToOwned::to_owned).collect()
    }
}
