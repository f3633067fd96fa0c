//! What people call tasks and runs: ids, beginnings and ends of ids, branches.

use fleet_core::id::{BatchId, IdError, IdPrefix, IdSuffix, ProjectId, RunId, TaskId};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::run::Run;
use fleet_core::text::{escaped, shortened};
use fleet_store::{StoreError, ops};

use super::Engine;
use crate::problems;

/// Unknown names are cut to this length in messages.
pub(crate) const LONGEST_NAME: usize = 60;

/// Something by the end of its id.
pub(super) enum BySuffix {
    Task(TaskId),
    Run(RunId),
    Batch(BatchId),
}

impl Engine {
    /// The task that the user means: by its own id, by a run or branch of it, by the branch that it will have, or by
    /// the end of an id.
    pub async fn task_id(&self, typed: &str) -> Outcome<TaskId> {
        let unknown = match IdPrefix::parse(typed) {
            Err(IdError::OtherKind { is: "run", .. }) => no_task(typed, "task, run or branch"),
            Err(error) if error.is_about_an_id() => problems::id(error),
            Err(_) => no_task(typed, "task, run or branch"),
            Ok(prefix) => match self.store().await?.call(ops::ResolveTask { prefix }).await {
                Err(StoreError::TaskNotFound(_)) => no_task(typed, "task, run or branch"),
                found => return found.map_err(problems::store),
            },
        };
        if let Some(task) = self.task_of_run(typed).await? {
            return self.not_also_an_id(typed, task).await;
        }
        match self.by_suffix(typed).await? {
            Some(BySuffix::Task(task)) => Ok(task),
            Some(BySuffix::Run(run)) => Ok(self.call(ops::GetRun { run }).await?.run.task),
            Some(BySuffix::Batch(_)) | None => Err(unknown),
        }
    }

    /// The task of a run, by the run or by its branch.
    async fn task_of_run(&self, typed: &str) -> Outcome<Option<TaskId>> {
        let project = self.known_project().await.ok().flatten().map(|project| project.id);
        // A finished run may have had the branch that a task has now.
        if let Some(holder) = self.task_of_branch(project, typed).await? {
            return Ok(Some(holder));
        }
        let find = ops::ResolveRun { typed: typed.to_owned(), project };
        match self.store().await?.call(find).await {
            Ok(run) => {
                let found = self.call(ops::GetRun { run }).await?;
                let is_by_branch = found.run.branch.as_deref() == Some(typed);
                // Within a repository, the name of a branch means one of that repository.
                let is_elsewhere = self.repository.is_ok() && project != Some(found.project.id);
                Ok((!is_by_branch || !is_elsewhere).then_some(found.run.task))
            }
            Err(StoreError::RunNotFound(_)) => Ok(None),
            Err(error) => Err(problems::store(error)),
        }
    }

    /// A task that was found by the name of a branch, unless the id of another one ends like that: an agent may have
    /// chosen the name of the branch for that reason.
    async fn not_also_an_id(&self, typed: &str, task: TaskId) -> Outcome<TaskId> {
        let other = match self.by_suffix(typed).await? {
            Some(BySuffix::Task(other)) => other,
            Some(BySuffix::Run(run)) => self.call(ops::GetRun { run }).await?.run.task,
            Some(BySuffix::Batch(_)) | None => task,
        };
        if other == task {
            return Ok(task);
        }
        let matches = vec![other.to_string(), task.to_string()];
        Err(problems::store(StoreError::Ambiguous { prefix: typed.to_owned(), matches }))
    }

    /// The run that the user means: by its own id, or the newest one by the id of a task or the name of a branch.
    /// Branches of the directory's project come first.
    pub async fn run_id(&self, typed: &str) -> Outcome<RunId> {
        let project = match self.repository {
            Ok(_) => self.known_project().await?.map(|project| project.id),
            Err(_) => None,
        };
        let found = self.store().await?.call(ops::ResolveRun { typed: typed.to_owned(), project }).await;
        let task = match found {
            Err(StoreError::RunNotFound(_)) => self.task_of_branch(project, typed).await?,
            // Several tasks are named as tasks, not by their runs.
            Err(StoreError::Ambiguous { .. }) if typed.starts_with(['t', 'T']) => {
                Some(self.task_id(typed).await?)
            }
            Ok(run) => {
                let task = self.call(ops::GetRun { run }).await?.run.task;
                self.not_also_an_id(typed, task).await?;
                return Ok(run);
            }
            Err(error) => return Err(problems::store(error)),
        };
        match task {
            // Runs that ended before they had a workspace have no branch, and their task has.
            Some(task) => self.newest_run(self.not_also_an_id(typed, task).await?).await,
            None => match self.by_suffix(typed).await? {
                Some(BySuffix::Run(run)) => Ok(run),
                Some(BySuffix::Task(task)) => self.newest_run(task).await,
                Some(BySuffix::Batch(_)) | None => Err(self.no_run(typed).await),
            },
        }
    }

    async fn newest_run(&self, task: TaskId) -> Outcome<RunId> {
        let typed = task.to_string();
        match self.store().await?.call(ops::ResolveRun { typed: typed.clone(), project: None }).await {
            Err(StoreError::RunNotFound(_)) => Err(self.no_run(&typed).await),
            other => other.map_err(problems::store),
        }
    }

    /// The only thing whose id ends like this: in the directory's project, or anywhere if that has none. A task comes
    /// before a run, and both before a batch.
    pub(super) async fn by_suffix(&self, typed: &str) -> Outcome<Option<BySuffix>> {
        let Some(suffix) = IdSuffix::parse(typed) else { return Ok(None) };
        let project = self.known_project().await.ok().flatten().map(|project| project.id);
        let mut found = self.call(ops::ResolveSuffix { suffix: suffix.clone(), project }).await?;
        if found == ops::Suffixed::default() && project.is_some() {
            found = self.call(ops::ResolveSuffix { suffix, project: None }).await?;
        }
        let ops::Suffixed { tasks, runs, batches } = found;
        if let Some(task) = only(typed, tasks)? {
            return Ok(Some(BySuffix::Task(task)));
        }
        if let Some(run) = only(typed, runs)? {
            return Ok(Some(BySuffix::Run(run)));
        }
        Ok(only(typed, batches)?.map(BySuffix::Batch))
    }

    pub(crate) async fn task_of_branch(
        &self,
        project: Option<ProjectId>,
        branch: &str,
    ) -> Outcome<Option<TaskId>> {
        let Some(project) = project else { return Ok(None) };
        self.call(ops::BranchHolder { project, branch: branch.to_owned() }).await
    }

    /// Why there is no run: perhaps its task has not started yet.
    pub(crate) async fn no_run(&self, typed: &str) -> Problem {
        match self.task_id(typed).await {
            Ok(task) => Problem::new(Code::RunNotFound, format!("task {task} has not been started yet"))
                .hint(format!(
                    "`fleet why {task}` explains what it waits for; `fleet status` shows whether a runner is up"
                )),
            Err(problem) if problem.code != Code::TaskNotFound => problem,
            Err(_) => {
                let message = format!("no task, run or branch is called {}", named(typed));
                Problem::new(Code::RunNotFound, message).hint("`fleet list --all -A` shows every run")
            }
        }
    }

    /// A run, if this store knows it.
    pub(crate) async fn known_run(&self, run: RunId) -> Outcome<Option<Run>> {
        match self.call(ops::GetRun { run }).await {
            Ok(detail) => Ok(Some(detail.run)),
            Err(problem) if problem.code == Code::RunNotFound => Ok(None),
            Err(problem) => Err(problem),
        }
    }

    /// The batch that the user named: by its id, or by the end of that.
    pub(crate) async fn batch_id(&self, typed: &str) -> Outcome<BatchId> {
        match typed.parse() {
            Ok(batch) => Ok(batch),
            Err(error) => match self.by_suffix(typed).await? {
                Some(BySuffix::Batch(batch)) => Ok(batch),
                _ if error.is_about_an_id() => Err(problems::batch(error)),
                _ => Err(no_batch(&named(typed))),
            },
        }
    }

    /// The same for a batch that may be left out.
    pub(crate) async fn given_batch(&self, typed: Option<&str>) -> Outcome<Option<BatchId>> {
        match typed {
            Some(typed) => self.batch_id(typed).await.map(Some),
            None => Ok(None),
        }
    }

    /// The tasks that the user named, each once.
    pub async fn task_ids(&self, typed: &[String]) -> Outcome<Vec<TaskId>> {
        let mut ids = Vec::with_capacity(typed.len());
        for text in typed {
            let id = self.task_id(text).await?;
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        Ok(ids)
    }
}

/// What was typed is shown, not what it was folded to.
fn named(typed: &str) -> String {
    format!("\"{}\"", escaped(&shortened(typed, LONGEST_NAME)))
}

/// As a verb reports a name that means nothing; `looked_for` says what it could have been.
pub(super) fn no_task(typed: &str, looked_for: &str) -> Problem {
    Problem::new(Code::TaskNotFound, format!("no {looked_for} is called {}", named(typed)))
        .hint("`fleet task list --all -A` shows every task; `fleet task search WORDS` finds one by its text")
}

pub(super) fn no_batch(batch: &str) -> Problem {
    Problem::new(Code::TaskNotFound, format!("there is no batch {batch}"))
        .hint("`fleet list --all --grouped` shows them")
}

fn only<T: ToString>(typed: &str, mut found: Vec<T>) -> Outcome<Option<T>> {
    if found.len() > 1 {
        let (prefix, matches) = (typed.to_owned(), found.iter().map(ToString::to_string).collect());
        return Err(problems::store(StoreError::Ambiguous { prefix, matches }));
    }
    Ok(found.pop())
}
