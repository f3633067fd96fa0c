//! The tasks that a task waited for (`--after`): its branch starts from their work.
//!
//! Decided when the run starts, by where their branches are then. Must never stop a task because one before it changed
//! nothing.

use fleet_core::id::TaskId;
use fleet_core::problem::Outcome;
use fleet_core::run::{Ending, Reason, Run};
use fleet_core::task::{Task, TaskState};
use fleet_core::text::escaped;
use fleet_host::git::{self, Area, GitError, Oid};
use fleet_store::ops::{self, RunDetail, TaskBefore};

use super::prior_work::{Head, Joined, conflict, failed, merge};
use crate::Engine;
use crate::engine::branch_of;

pub(crate) struct PriorTasks {
    task: TaskId,
    /// Where the run is prepared.
    place: String,
    /// Oldest first.
    before: Vec<TaskBefore>,
}

impl PriorTasks {
    /// Those of a run. Costs nothing for a task that waited for none.
    pub(super) async fn of(engine: &Engine, detail: &RunDetail) -> Outcome<Option<Self>> {
        let Some(task) = detail.task.as_ref().filter(|task| detail.has_dependencies && follows(task)) else {
            return Ok(None);
        };
        let before = engine.call(ops::TasksBefore { task: task.id }).await?;
        Ok(Some(Self { task: task.id, place: detail.run.place.clone(), before }))
    }

    /// What the branch starts from; `None` if that is the current commit, because nothing was done before, or because all
    /// of it has landed there.
    pub(super) fn join(&self, area: &Area) -> Result<Option<Joined>, Ending> {
        let heads = self.heads(area)?;
        if has_landed(area, &heads).map_err(|error| failed(&error))? {
            return Ok(None);
        }
        let joined = merge(area, &heads, &self.message(&heads)).map_err(|error| failed(&error))?;
        match joined.as_ref().and_then(|joined| joined.unmerged.first()) {
            Some(first) => Err(conflict(&heads, first)),
            None => Ok(joined),
        }
    }

    pub(super) fn is_known(&self, area: &Area, commit: &Oid) -> bool {
        let Ok(heads) = self.heads(area) else { return false };
        let is_current = || git::is_ancestor(&area.vault, commit, &git::head_commit(&area.repo)?);
        heads.len() < 2 || heads.iter().any(|head| head.commit == *commit) || is_current().unwrap_or(false)
    }

    fn heads(&self, area: &Area) -> Result<Vec<Head>, Ending> {
        let mut heads: Vec<Head> = Vec::new();
        for before in &self.before {
            let head = self.head(area, before)?;
            heads.extend(head.filter(|head| heads.iter().all(|known| known.commit != head.commit)));
        }
        Ok(heads)
    }

    /// What a task left. One that changed nothing passes on what it started from, if that was the work of others.
    fn head(&self, area: &Area, before: &TaskBefore) -> Result<Option<Head>, Ending> {
        let Some(run) = &before.run else { return Ok(None) };
        let name = format!("task {}", before.task.id);
        if has_work(before) {
            let commit = self.end(area, before, run)?;
            return Ok(Some(Head { name, branch: run.branch.clone(), commit }));
        }
        let passes_on = follows(&before.task) && (before.has_dependencies || before.task.part.is_some());
        let base = run.base.as_deref().filter(|_| passes_on).and_then(|base| Oid::parse(base).ok());
        Ok(base.map(|commit| Head { name, branch: None, commit }))
    }

    /// Where the work of a task ends: at the tip of its branch, or at its last commit if the branch is gone.
    fn end(&self, area: &Area, before: &TaskBefore, run: &Run) -> Result<Oid, Ending> {
        let is_taken = before.result.as_ref().is_some_and(|result| result.branch_taken);
        // A branch of that name here may be another one if the run worked elsewhere.
        let is_its = run.place == self.place && !is_taken;
        if let Some(branch) = run.branch.as_deref().filter(|_| is_its)
            && let Some(tip) = git::branch_commit(&area.repo, branch).map_err(|error| failed(&error))?
        {
            return Ok(tip);
        }
        let last = before.result.as_ref().and_then(|result| Oid::parse(result.commits.first()?).ok());
        match last {
            Some(last) if git::has_commit(&area.vault, &last).map_err(|error| failed(&error))? => Ok(last),
            _ => Err(self.gone(before, run)),
        }
    }

    fn gone(&self, before: &TaskBefore, run: &Run) -> Ending {
        let (id, own) = (before.task.id, self.task);
        let branch = escaped(run.branch.as_deref().unwrap_or_default());
        let what = if run.place == self.place {
            format!("its branch `{branch}` was deleted, and its commits are gone")
        } else {
            let runner = escaped(&run.runner);
            format!(
                "it ran on {runner}: fetch its branch `{branch}` from there, then `fleet task retry {own}`"
            )
        };
        let other = format!("`fleet task edit {own} --base REF` starts from another commit");
        Ending::Failed(
            Reason::WorkspaceFailed,
            format!("the work of task {id} is not in this repository: {what}; {other}"),
        )
    }

    fn message(&self, heads: &[Head]) -> String {
        let name = |head: &Head| head.branch.clone().unwrap_or_else(|| head.name.clone());
        let names: Vec<String> = heads.iter().map(name).collect();
        format!("Merge {}\n\nWhere task {} starts.\n", names.join(", "), self.task)
    }
}

/// Whether a task starts from the work before it: a commit that its author named counts more.
fn follows(task: &Task) -> bool {
    task.spec.base.is_none()
}

fn has_work(before: &TaskBefore) -> bool {
    before.result.as_ref().is_none_or(|result| result.commit_count > 0)
}

/// Whether all of it is in the current commit.
fn has_landed(area: &Area, heads: &[Head]) -> Result<bool, GitError> {
    // A repository may have no current commit.
    let Ok(current) = git::head_commit(&area.repo) else { return Ok(false) };
    for head in heads {
        if !git::is_ancestor(&area.vault, &head.commit, &current)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The branches that a task starts from, as far as that is known before it starts.
pub(crate) async fn start_branches(engine: &Engine, task: &Task) -> Outcome<Vec<String>> {
    if !follows(task) || task.part.is_some() {
        return Ok(Vec::new());
    }
    let before = engine.call(ops::TasksBefore { task: task.id }).await?;
    let branch = |before: &TaskBefore| branch_of(&before.task, before.run.as_ref());
    Ok(before.iter().filter(|before| may_have_work(before)).map(branch).collect())
}

fn may_have_work(before: &TaskBefore) -> bool {
    match before.task.state() {
        TaskState::Done => before.run.is_some() && has_work(before),
        _ => !before.task.spec.read_only,
    }
}
