//! What a keeper does for a task that is a stage of a workflow.
//!
//! Owns where the branch of a stage starts, and what its prompt says about the stages before it. Must never write to
//! the branches of those: they are read.

mod cut;
mod start;
mod text;
mod values;

use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::run::Run;
use fleet_core::task::Task;
use fleet_core::workflow::{Returns, Stage};
use fleet_host::git::{self, Area, GitError, Oid};
use fleet_store::ops::{self, PartContext, Upstream};

pub(super) use text::StageText;

use super::prior_work::StartingRun;
use crate::Engine;

/// The stage that a task is, with what those before it left.
pub(crate) struct StageRun {
    own: StartingRun,
    around: PartContext,
    stage: Stage,
}

impl StageRun {
    /// That of a run, if its task is one. Costs nothing for all others.
    pub(crate) async fn of(engine: &Engine, task: &Task, run: &Run) -> Outcome<Option<Self>> {
        if task.part.is_none() {
            return Ok(None);
        }
        let Some(around) = engine.call(ops::PartInputs { task: task.id }).await? else { return Ok(None) };
        Self::new(around, StartingRun::new(run)).map(Some)
    }

    fn new(around: PartContext, own: StartingRun) -> Outcome<Self> {
        let stage = around.spec.stages.get(around.part.stage).cloned();
        let lost = || Problem::new(Code::StoreFailed, format!("the workflow has no stage {}", around.name));
        Ok(Self { own, stage: stage.ok_or_else(lost)?, around })
    }

    pub(crate) const fn returns(&self) -> Returns {
        self.stage.returns
    }

    pub(crate) fn checks(&self) -> &[Vec<String>] {
        &self.stage.checks
    }
}

/// Where the work of a part ends: the newest of its commits. A result that is too large to be looked at leaves the branch.
fn head(area: &Area, part: &Upstream) -> Result<Option<Oid>, GitError> {
    let Some(run) = &part.run else { return Ok(None) };
    let newest = part.result.as_ref().and_then(|result| result.commits.first());
    if let Some(commit) = newest.and_then(|commit| Oid::parse(commit).ok()) {
        return Ok(Some(commit));
    }
    if part.result.is_none()
        && let Some(branch) = &run.branch
        && let Some(tip) = git::branch_commit(&area.repo, branch)?
    {
        return Ok(Some(tip));
    }
    Ok(base(part))
}

/// Where the work of a part began.
fn base(part: &Upstream) -> Option<Oid> {
    Oid::parse(part.run.as_ref()?.base.as_deref()?).ok()
}
