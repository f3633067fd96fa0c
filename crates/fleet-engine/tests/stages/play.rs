//! A workflow that is played through.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use fleet_core::id::WorkflowId;
use fleet_core::outcome::RunResult;
use fleet_core::run::Run;
use fleet_core::schedule::Caps;
use fleet_core::task::Priority;
use fleet_core::workflow::{Changes, Returns, Spec, Stage, Start, check};
use fleet_engine::environment::Environment;
use fleet_engine::home::Home;
use fleet_engine::keeper::{self, Ticket};
use fleet_engine::{Engine, Start as Beginning, clock};
use fleet_store::ops;
use fleet_testkit::repo::Repo;

/// An agent that runs the part of its prompt between two lines.
const AGENT: &str = "sed -n '/^RUN$/,/^END$/p' \"$1\" | sed '1d;$d' > \"$HOME/script\"; . \"$HOME/script\"";

/// A report that claims nothing.
pub(crate) const DONE: &str = r#"echo '{"summary": "did it", "status": "completed"}'"#;

/// A stage whose agent runs a script, after `said` to it.
pub(crate) fn stage(name: &str, needs: &[usize], said: &str, script: &str) -> Stage {
    let prompt = format!("{said}\nRUN\n{script}\n{DONE}\nEND\n");
    Stage {
        needs: needs.to_vec(),
        start: if needs.is_empty() { Start::New } else { Start::Inherit },
        retries: Some(1),
        ..Stage::new(name.parse().unwrap(), prompt)
    }
}

/// One that only looks, and answers with this.
pub(crate) fn reviewer(name: &str, needs: &[usize], said: &str, answer: &str) -> Stage {
    Stage {
        needs: needs.to_vec(),
        changes: Changes::None,
        returns: Returns::Verdict,
        retries: Some(1),
        ..Stage::new(name.parse().unwrap(), format!("{said}\nRUN\necho '{answer}'\nEND\n"))
    }
}

pub(crate) struct Play {
    pub(crate) repo: Repo,
    home: tempfile::TempDir,
    engine: Engine,
    workflow: WorkflowId,
    /// As they ended, each with the name of its part.
    pub(crate) runs: Vec<(String, Run)>,
}

impl Play {
    /// Adds a workflow of these stages, and plays it until nothing is left to do.
    pub(crate) async fn of(stages: Vec<Stage>) -> Self {
        Box::pin(Self::with(stages, "1m")).await
    }

    /// The same, when checks may take so long.
    pub(crate) async fn with(stages: Vec<Stage>, check_time: &str) -> Self {
        let (repo, home) = (Repo::init(), tempfile::tempdir().unwrap());
        fs::write(home.path().join("agent.sh"), AGENT).unwrap();
        let config = format!(
            "agent = 'play'\n[workspaces]\ncheck_time = '{check_time}'\n[agents.play]\nprogram = '/bin/sh'\n\
             args = ['{}', '{{prompt_file}}', 'effort:{{effort}}']\nprompt = 'file'\noutput = 'lines'\n",
            home.path().join("agent.sh").display()
        );
        fs::write(home.path().join("config.toml"), config).unwrap();
        let path = std::env::var_os("PATH").unwrap();
        let here = home.path().as_os_str().to_owned();
        let environment =
            Environment::from_pairs([("FLEET_HOME", here.clone()), ("HOME", here), ("PATH", path)])
                .with_current_directory(repo.path());
        let engine = Engine::new(Beginning { environment, directory: None, flags: Vec::new() }).unwrap();
        let workflow = engine.new_id().unwrap();
        let mut play = Self { repo, home, engine, workflow, runs: Vec::new() };
        play.add(stages).await;
        while let Some(run) = play.claim().await {
            let ticket = Ticket { run: run.id, attempt: run.attempt, slots: 1 };
            Box::pin(keeper::run(&play.engine, ticket)).await.unwrap();
            let detail = play.engine.call(ops::GetRun { run: run.id }).await.unwrap();
            let around = play.engine.call(ops::PartInputs { task: run.task }).await.unwrap().unwrap();
            play.runs.push((around.name, detail.run));
        }
        play
    }

    async fn add(&self, stages: Vec<Stage>) {
        let (name, task) = ("flow".to_owned(), "Make it good.".to_owned());
        let params = BTreeMap::from([("tone".to_owned(), "short {task_prompt}".to_owned())]);
        let spec = Spec { name, task, params, fail_fast: false, stages };
        assert_eq!(check(&spec), []);
        let add = ops::AddWorkflow {
            id: self.workflow,
            project: self.engine.project().await.unwrap().id,
            spec,
            source: None,
            base: self.repo.git(&["rev-parse", "HEAD"]).parse().unwrap(),
            priority: Priority::default(),
            author: ops::Author::Person { spawn_depth: 1 },
            now: clock::now(),
        };
        self.engine.call(add).await.unwrap();
    }

    /// The next run. The wait before a retry is over by then.
    async fn claim(&self) -> Option<Run> {
        let claim = ops::Claim {
            runner: "test".to_owned(),
            place: "here".to_owned(),
            runs: vec![self.engine.new_id().unwrap()],
            default_agent: "play".parse().unwrap(),
            able: None,
            projects: None,
            accounts: BTreeMap::new(),
            caps: Caps::default(),
            budget: None,
            lease: Duration::from_mins(5),
            now: clock::now().plus(Duration::from_hours(1)),
        };
        self.engine.call(claim).await.unwrap().pop().map(|claimed| claimed.run)
    }

    /// The newest run of a part.
    #[track_caller]
    pub(crate) fn run(&self, part: &str) -> &Run {
        let newest = self.runs.iter().rfind(|(name, _)| name == part);
        &newest.unwrap().1
    }

    /// What the agent of its newest run was told.
    pub(crate) fn prompt(&self, part: &str) -> String {
        self.prompt_of(self.run(part))
    }

    pub(crate) fn prompt_of(&self, run: &Run) -> String {
        fs::read_to_string(self.folder(run).prompt()).unwrap()
    }

    pub(crate) fn result(&self, part: &str) -> RunResult {
        serde_json::from_slice(&fs::read(self.folder(self.run(part)).result()).unwrap()).unwrap()
    }

    pub(crate) fn folder(&self, run: &Run) -> fleet_engine::home::RunFolder {
        Home::new(self.home.path()).run(run.id)
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn branch(&self, part: &str) -> &str {
        self.run(part).branch.as_deref().unwrap()
    }

    /// The commit at the tip of a part's branch.
    pub(crate) fn tip(&self, part: &str) -> String {
        self.repo.git(&["rev-parse", self.branch(part)])
    }

    pub(crate) fn base(&self, part: &str) -> &str {
        self.run(part).base.as_deref().unwrap()
    }

    pub(crate) fn files(&self, commit: &str) -> Vec<String> {
        self.repo.git(&["ls-tree", "--name-only", commit]).lines().map(ToOwned::to_owned).collect()
    }

    /// How every run ended, in order.
    pub(crate) fn told(&self) -> Vec<String> {
        let told = |(name, run): &(String, Run)| match &run.reason {
            Some(reason) => format!("{name} {reason}"),
            None => format!("{name} {}", run.state),
        };
        self.runs.iter().map(told).collect()
    }
}
