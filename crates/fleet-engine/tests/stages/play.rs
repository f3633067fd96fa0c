//! A workflow that is played through.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use fleet_core::id::WorkflowId;
use fleet_core::outcome::RunResult;
use fleet_core::run::Run;
use fleet_core::task::Priority;
use fleet_core::workflow::{ChangeRule, Returns, Spec, Stage, StageStart, check};
use fleet_engine::clock;
use fleet_engine::home::RunFolder;
use fleet_store::ops;

use crate::rig::{DONE, Rig};

/// A stage whose agent runs a script, after `said` to it.
pub(crate) fn stage(name: &str, needs: &[usize], said: &str, script: &str) -> Stage {
    let prompt = format!("{said}\nRUN\n{script}\n{DONE}\nEND\n");
    Stage {
        needs: needs.to_vec(),
        start: if needs.is_empty() { StageStart::New } else { StageStart::Inherit },
        retries: Some(1),
        ..Stage::new(name.parse().unwrap(), prompt)
    }
}

/// One that only looks, and answers with this.
pub(crate) fn reviewer(name: &str, needs: &[usize], said: &str, answer: &str) -> Stage {
    Stage {
        needs: needs.to_vec(),
        changes: ChangeRule::None,
        returns: Returns::Verdict,
        retries: Some(1),
        ..Stage::new(name.parse().unwrap(), format!("{said}\nRUN\necho '{answer}'\nEND\n"))
    }
}

pub(crate) struct Play {
    pub(crate) rig: Rig,
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
        let rig = Rig::new(check_time);
        let workflow = rig.engine.new_id().unwrap();
        let mut play = Self { rig, workflow, runs: Vec::new() };
        play.add(stages).await;
        while let Some(run) = play.rig.play().await {
            let around = play.rig.engine.call(ops::PartInputs { task: run.task }).await.unwrap().unwrap();
            play.runs.push((around.name, run));
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
            project: self.rig.engine.project().await.unwrap().id,
            spec,
            source: None,
            base: self.rig.repo.git(&["rev-parse", "HEAD"]).parse().unwrap(),
            priority: Priority::default(),
            author: ops::Author::Person { spawn_depth: 1 },
            now: clock::now(),
        };
        self.rig.engine.call(add).await.unwrap();
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

    pub(crate) fn folder(&self, run: &Run) -> RunFolder {
        self.rig.folder(run)
    }

    pub(crate) fn home(&self) -> &Path {
        self.rig.home()
    }

    pub(crate) fn branch(&self, part: &str) -> &str {
        self.run(part).branch.as_deref().unwrap()
    }

    /// The commit at the tip of a part's branch.
    pub(crate) fn tip(&self, part: &str) -> String {
        self.rig.tip(self.run(part))
    }

    pub(crate) fn base(&self, part: &str) -> &str {
        self.run(part).base.as_deref().unwrap()
    }

    pub(crate) fn files(&self, commit: &str) -> Vec<String> {
        self.rig.files(commit)
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
