//! Graphs by chance, and what their stages will come to.

use std::collections::BTreeMap;
use std::path::Path;

use fleet_core::workflow::{Condition, OnFailure, PartState, Spec, Stage, StageStart};
use serde_json::{Map, Value, json};

/// Small, fast and the same on every machine.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % below
    }
}

/// A workflow, and what each of its stages comes to, should it be started: however often somebody is killed meanwhile.
pub(crate) struct Graph {
    pub(crate) spec: Spec,
    pub(crate) fates: Vec<PartState>,
}

impl Graph {
    /// With so many stages, which leave their signs in a folder.
    pub(crate) fn new(name: &str, stages: usize, dice: &mut Dice, signs: &Path) -> Self {
        // Where any failure may end all of it, most stages would never be started.
        let policies = if dice.roll(3) == 0 { 3 } else { 2 };
        let policies = [OnFailure::Continue, OnFailure::SkipDependents, OnFailure::Fail].split_at(policies).0;
        let sign = |at| signs.join(format!("{name}-{at}")).display().to_string();
        let (mut fates, mut all) = (Vec::new(), Vec::new());
        for at in 0..stages {
            let fate = if dice.roll(6) == 0 { PartState::Failed } else { PartState::Done };
            let mut needs: Vec<usize> = (0..dice.roll(4).min(at)).map(|_| dice.roll(at)).collect();
            needs.sort_unstable();
            needs.dedup();
            let steps = steps(dice, fate, &format!("s{at}.txt"), &sign(at));
            let mut stage =
                Stage::new(name_of(at).parse().unwrap(), format!("Do it.\n\n```demo\n{steps}\n```\n"));
            stage.start =
                if needs.is_empty() || dice.roll(2) == 0 { StageStart::New } else { StageStart::Inherit };
            stage.when = needs.first().filter(|_| dice.roll(4) == 0).map(|need| wish(dice, *need));
            stage.on_failure = policies[dice.roll(policies.len())];
            // Whoever is to fail fails at every attempt; for the others, no death of a keeper may be the last.
            stage.retries =
                Some(if fate == PartState::Done { 20 } else { u32::try_from(dice.roll(2)).unwrap() });
            stage.needs = needs;
            all.push(stage);
            fates.push(fate);
        }
        let (name, task) = (name.to_owned(), "Do it".to_owned());
        let fail_fast = dice.roll(3) == 0;
        Self { spec: Spec { name, task, params: BTreeMap::new(), fail_fast, stages: all }, fates }
    }

    /// As it stands in a file.
    pub(crate) fn file(&self) -> Value {
        let one = |stage: &Stage| {
            let mut said = self.said(stage);
            said["agent"] = json!("demo");
            said["start"] = json!(stage.start.as_str());
            said["prompt"] = json!(stage.prompt);
            (stage.name.to_string(), said)
        };
        let stages: Map<String, Value> = self.spec.stages.iter().map(one).collect();
        json!({"name": self.spec.name, "task": self.spec.task, "fail_fast": self.spec.fail_fast, "stages": stages})
    }

    /// As a client of the MCP server sends it, which cannot be hasty.
    pub(crate) fn order(&mut self, repo: &Path) -> Value {
        self.spec.fail_fast = false;
        let one = |stage: &Stage| {
            let mut said = self.said(stage);
            said["name"] = json!(stage.name.as_str());
            said["executor"] = json!("demo");
            said["worktree_strategy"] = json!(stage.start.as_str());
            said["prompt_template"] = json!(stage.prompt);
            said
        };
        let stages: Vec<Value> = self.spec.stages.iter().map(one).collect();
        json!({"repo_path": repo, "name": self.spec.name, "task_prompt": self.spec.task, "stages": stages})
    }

    /// What both say in the same words.
    fn said(&self, stage: &Stage) -> Value {
        let needs: Vec<&str> = stage.needs.iter().map(|need| self.spec.stages[*need].name.as_str()).collect();
        let mut said =
            json!({"needs": needs, "on_failure": stage.on_failure.as_str(), "retries": stage.retries});
        if let Some(when) = &stage.when {
            said["when"] = json!(when);
        }
        said
    }
}

pub(crate) fn name_of(at: usize) -> String {
    format!("s{at}")
}

/// It is only wanted if a stage that it needs went well, or did not.
fn wish(dice: &mut Dice, need: usize) -> Condition {
    let no = if dice.roll(2) == 0 { "not " } else { "" };
    Condition::try_from(format!("{no}{}.ok", name_of(need))).unwrap()
}

/// What the agent does. Some succeed only at the second attempt.
fn steps(dice: &mut Dice, fate: PartState, file: &str, sign: &str) -> String {
    let end = match (fate, dice.roll(5)) {
        (PartState::Done, 0) => format!("once {sign} exit 1"),
        (PartState::Done, _) => "say Well done.".to_owned(),
        (_, 0 | 1) => "fail I cannot do it.".to_owned(),
        _ => "exit 3".to_owned(),
    };
    format!("sleep {}ms\nwrite {file} x\n{end}", dice.roll(300))
}
