//! The tasks that a task waited for (`--after`): its branch starts from their work.
//!
//! Decided when the run starts, by where their branches are then. Must never stop a task because one before it changed
//! nothing.

use fleet_core::problem::Outcome;
use fleet_core::run::{Ending, Run};
use fleet_core::task::{Task, TaskState};
use fleet_core::text::escaped;
use fleet_host::git::{self, Area, GitError, Oid};
use fleet_store::ops::{self, RunDetail, TaskBefore};

use super::prior_work::{Joined, PriorHead, StartingRun, conflict, failed, merge};
use crate::Engine;
use crate::engine::branch_of;

pub(crate) struct PriorTasks {
    own: StartingRun,
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
        Ok(Some(Self { own: StartingRun::new(&detail.run), before }))
    }

    /// What the branch starts from; `None` if that is the current commit, because nothing was done before, or because all
    /// of it has landed there.
    pub(super) fn join(&self, area: &Area) -> Result<Option<Joined>, Ending> {
        let heads = self.starts(area)?;
        let joined = merge(area, &heads, &self.message(&heads)).map_err(|error| failed(&error))?;
        match joined.as_ref().and_then(|joined| joined.unmerged.first()) {
            Some(first) => Err(conflict(&heads, first)),
            None => Ok(joined),
        }
    }

    /// Whether others have the commit. What landed since the run started does not make a merge known.
    pub(super) fn is_known(&self, area: &Area, commit: &Oid) -> bool {
        let Ok(heads) = self.heads(area) else { return false };
        let is_current = || git::is_ancestor(&area.vault, commit, &git::head_commit(&area.repo)?);
        heads.len() < 2 || heads.iter().any(|head| head.commit == *commit) || is_current().unwrap_or(false)
    }

    /// The work of others in `base` that has not landed: titles and branches.
    pub(super) fn passed_on(&self, area: &Area, base: &Oid) -> Option<String> {
        let current = git::head_commit(&area.repo).ok();
        // A sentence for the agent is not worth a failure.
        let is_in = |head: &PriorHead, commit: &Oid| {
            git::is_ancestor(&area.vault, &head.commit, commit).unwrap_or(false)
        };
        let is_new = |head: &PriorHead| {
            is_in(head, base) && !current.as_ref().is_some_and(|current| is_in(head, current))
        };
        let with_work = self.before.iter().filter(|before| before.run.is_some() && has_work(before));
        let heads = with_work.filter_map(|before| Some((before, self.head(area, before).ok()??)));
        let named: Vec<String> =
            heads.filter(|(_, head)| is_new(head)).map(|(before, head)| titled(before, &head)).collect();
        (!named.is_empty()).then(|| format!("Your branch starts from the work of {}.", named.join(", ")))
    }

    /// What there is to merge. Work that has landed, under whatever name, is taken from the current commit: merged once
    /// more, it could conflict with itself.
    fn starts(&self, area: &Area) -> Result<Vec<PriorHead>, Ending> {
        let heads = self.heads(area)?;
        // A repository may have no current commit.
        let Ok(current) = git::head_commit(&area.repo) else { return Ok(heads) };
        let mut starts: Vec<PriorHead> = Vec::new();
        for head in heads {
            let has_landed = git::has_work(&area.vault, &current, &head.commit);
            let head = if has_landed.map_err(|error| failed(&error))? { landed_at(&current) } else { head };
            if !starts.contains(&head) {
                starts.push(head);
            }
        }
        let is_all_landed = starts.iter().all(|head| head.commit == current);
        Ok(if is_all_landed { Vec::new() } else { starts })
    }

    fn heads(&self, area: &Area) -> Result<Vec<PriorHead>, Ending> {
        let mut heads: Vec<PriorHead> = Vec::new();
        for before in &self.before {
            let head = self.head(area, before)?;
            heads.extend(head.filter(|head| heads.iter().all(|known| known.commit != head.commit)));
        }
        Ok(heads)
    }

    /// What a task left. One that changed nothing passes on what it started from, if that was the work of others.
    fn head(&self, area: &Area, before: &TaskBefore) -> Result<Option<PriorHead>, Ending> {
        let Some(run) = &before.run else { return Ok(None) };
        if has_work(before) {
            return self.end(area, before, run).map(Some);
        }
        let passes_on = follows(&before.task) && (before.has_dependencies || before.task.part.is_some());
        let base = run.base.as_deref().filter(|_| passes_on).and_then(|base| Oid::parse(base).ok());
        let Some(commit) = base else { return Ok(None) };
        if !is_here(area, &commit)? {
            return Err(self.own.missing(&format!("what task {} started from", before.task.id), run));
        }
        Ok(Some(PriorHead { name: name(before), branch: None, commit }))
    }

    /// Where the work of a task ends: at the tip of its branch, or at its last commit if the branch lacks that or is gone.
    fn end(&self, area: &Area, before: &TaskBefore, run: &Run) -> Result<PriorHead, Ending> {
        let result = before.result.as_ref();
        let last = result.and_then(|result| Oid::parse(result.commits.first()?).ok());
        // Whoever moves a branch that was published wants it there. One that was left alone may lack the work.
        let needed = last.as_ref().filter(|_| result.is_some_and(|result| result.unpublished));
        if let Some(tip) = self.tip(area, before, run)?
            && needed.map_or(Ok(true), |needed| has(area, &tip, needed))?
        {
            return Ok(PriorHead { name: name(before), branch: run.branch.clone(), commit: tip });
        }
        match last {
            Some(commit) if is_here(area, &commit)? => {
                Ok(PriorHead { name: name(before), branch: None, commit })
            }
            _ => Err(self.own.missing(&format!("the work of task {}", before.task.id), run)),
        }
    }

    /// Where the branch of a task is. A branch of that name here may be another one if the run worked elsewhere.
    fn tip(&self, area: &Area, before: &TaskBefore, run: &Run) -> Result<Option<Oid>, Ending> {
        let is_taken = before.result.as_ref().is_some_and(|result| result.branch_taken);
        let branch = run.branch.as_deref().filter(|_| self.own.is_beside(run) && !is_taken);
        let tip = branch.map_or(Ok(None), |branch| git::branch_commit(&area.repo, branch));
        tip.map_err(|error| failed(&error))
    }

    fn message(&self, heads: &[PriorHead]) -> String {
        let name = |head: &PriorHead| head.branch.clone().unwrap_or_else(|| head.name.clone());
        let names: Vec<String> = heads.iter().map(name).collect();
        format!("Merge {}\n\nWhere task {} starts.\n", names.join(", "), self.own.task)
    }
}

fn name(before: &TaskBefore) -> String {
    format!("task {}", before.task.id)
}

/// As an agent knows it: its title, and where its work is.
fn titled(before: &TaskBefore, head: &PriorHead) -> String {
    let title = &before.task.spec.title;
    match &head.branch {
        Some(branch) => format!("“{title}” (branch `{}`)", escaped(branch)),
        None => format!("“{title}” (commit {})", head.commit),
    }
}

/// What stands for work that has landed.
fn landed_at(current: &Oid) -> PriorHead {
    PriorHead { name: "the current commit".to_owned(), branch: None, commit: current.clone() }
}

fn is_here(area: &Area, commit: &Oid) -> Result<bool, Ending> {
    git::has_commit(&area.vault, commit).map_err(|error| failed(&error))
}

/// Whether everything in a commit, which may be gone, is also in `tip`.
fn has(area: &Area, tip: &Oid, commit: &Oid) -> Result<bool, Ending> {
    let has = || Ok(git::has_commit(&area.vault, commit)? && git::is_ancestor(&area.vault, commit, tip)?);
    has().map_err(|error: GitError| failed(&error))
}

/// Whether a task starts from the work before it: a commit or an existing branch that its author named counts more.
fn follows(task: &Task) -> bool {
    task.spec.base.is_none() && !task.spec.existing_branch
}

fn has_work(before: &TaskBefore) -> bool {
    before.result.as_ref().is_none_or(|result| result.commit_count > 0)
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
