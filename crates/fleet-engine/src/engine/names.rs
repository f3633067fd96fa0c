//! What people call tasks and runs: ids, beginnings of ids, branches.

use fleet_core::id::{IdPrefix, ProjectId, RunId, TaskId};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::run::Run;
use fleet_core::text::{escaped, shortened};
use fleet_store::{StoreError, ops};

use super::Engine;
use crate::problems;

/// Unknown names are cut to this length in messages.
pub(crate) const LONGEST_NAME: usize = 60;

impl Engine {
    /// The task that somebody means: by its own id, by a run or branch of it, or by the branch that it will have.
    pub async fn task_id(&self, typed: &str) -> Outcome<TaskId> {
        let unknown = match IdPrefix::parse(typed) {
            Err(error) => problems::id(error),
            Ok(prefix) => match self.store().await?.call(ops::ResolveTask { prefix }).await {
                // What was typed is shown, not what it was folded to.
                Err(StoreError::TaskNotFound(_)) => {
                    let shown = format!("\"{}\"", escaped(&shortened(typed, LONGEST_NAME)));
                    problems::store(StoreError::TaskNotFound(shown))
                }
                found => return found.map_err(problems::store),
            },
        };
        self.task_of_run(typed).await?.ok_or(unknown)
    }

    /// The task of a run, by the run or by its branch.
    async fn task_of_run(&self, typed: &str) -> Outcome<Option<TaskId>> {
        let project = self.known_project().await.ok().flatten().map(|project| project.id);
        let find = ops::ResolveRun { typed: typed.to_owned(), project };
        match self.store().await?.call(find).await {
            Ok(run) => Ok(Some(self.call(ops::GetRun { run }).await?.run.task)),
            Err(StoreError::RunNotFound(_)) => self.task_of_branch(project, typed).await,
            Err(error) => Err(problems::store(error)),
        }
    }

    /// The run that somebody means: by its own id, or the newest one by the id of a task or the name of a branch.
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
            other => return other.map_err(problems::store),
        };
        // Runs that ended before they had a workspace have no branch, and their task has.
        let typed = task.map_or_else(|| typed.to_owned(), |task| task.to_string());
        let found = self.store().await?.call(ops::ResolveRun { typed: typed.clone(), project }).await;
        match found {
            Err(StoreError::RunNotFound(_)) => Err(self.no_run(&typed).await),
            other => other.map_err(problems::store),
        }
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
        let shown = escaped(typed);
        match self.task_id(typed).await {
            Ok(task) => Problem::new(Code::RunNotFound, format!("task {task} has not been started yet"))
                .hint(format!(
                    "`fleet why {task}` explains what it waits for; `fleet status` shows whether a runner is up"
                )),
            Err(problem) if problem.code == Code::IdAmbiguous => problem,
            Err(_) => Problem::new(Code::RunNotFound, format!("no run, task or branch is called {shown:?}"))
                .hint("`fleet list --all -A` shows every run"),
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
