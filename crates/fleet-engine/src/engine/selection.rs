//! Several tasks at once: by their names, by patterns, by their batch.
//!
//! A name has to mean a task, whatever its state. A pattern or a batch means those of its tasks that the verb can act on;
//! an agent gets those that come from its own task.

use fleet_core::glob::NamePattern;
use fleet_core::id::{BatchId, IdPrefix, TaskId};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::run::Run;
use fleet_core::task::{Status, Task, TaskState, own_branch};
use fleet_core::text::{escaped, shortened};
use fleet_store::ops;

use super::Engine;
use super::names::{LONGEST_NAME, no_batch, no_task};
use crate::verbs::lineage;

/// At most this many tasks are looked at; where running ones come first, only the end of a very long queue is left out.
const MAX_TASKS: i64 = 10_000;

/// Which tasks patterns and batches mean.
#[derive(Debug, Clone)]
pub(crate) struct SelectionScope {
    /// What the verb can act on, first things first.
    pub(crate) states: &'static [TaskState],
    /// The same in words: "running or queued".
    pub(crate) called: &'static str,
    /// Only those of this batch.
    pub(crate) batch: Option<BatchId>,
    /// Patterns look at every project.
    pub(crate) all_projects: bool,
    /// An unknown name is reported like a pattern without a match.
    pub(crate) unknown_is_no_match: bool,
}

impl SelectionScope {
    pub(crate) const fn of(states: &'static [TaskState], called: &'static str) -> Self {
        Self { states, called, batch: None, all_projects: false, unknown_is_no_match: false }
    }
}

/// The tasks that were meant, each once.
#[derive(Debug, Default)]
pub(crate) struct Selected {
    pub(crate) tasks: Vec<TaskId>,
    /// Whether there are more tasks than were looked at.
    pub(crate) more: bool,
}

/// What a text names.
pub(crate) enum NamedTasks {
    One(TaskId),
    Batch(BatchId),
    Pattern(NamePattern),
}

impl NamedTasks {
    pub(crate) async fn parse(engine: &Engine, typed: &str) -> Outcome<Self> {
        if NamePattern::has_wildcards(typed) || typed.is_empty() {
            let pattern = NamePattern::parse(typed);
            return pattern
                .map(Self::Pattern)
                .map_err(|error| Problem::new(Code::InvalidValue, error.to_string()));
        }
        // The whole id of a batch is never the end of another id.
        if let Ok(batch) = typed.parse() {
            return Ok(Self::Batch(batch));
        }
        match engine.task_id(typed).await {
            Err(problem) if matches!(problem.code, Code::TaskNotFound | Code::IdInvalid) => {
                let unknown = match problem.code {
                    Code::TaskNotFound => no_task(typed, "task, run, branch or batch"),
                    _ => problem,
                };
                engine.batch_id(typed).await.map(Self::Batch).map_err(|_| unknown)
            }
            found => found.map(Self::One),
        }
    }
}

/// A task that a pattern may mean.
struct NameCandidate {
    task: TaskId,
    branch: String,
}

impl Engine {
    /// The tasks that the user means. Everything that was typed has to mean something: what does not is a typing error,
    /// and then nothing happens.
    pub(crate) async fn selected(&self, typed: &[String], among: &SelectionScope) -> Outcome<Selected> {
        let mut found = Selected::default();
        if typed.is_empty()
            && let Some(batch) = among.batch
        {
            found.add(self.batch(batch, among).await?);
        }
        for text in typed {
            let named = NamedTasks::parse(self, text).await.map_err(|problem| match problem.code {
                Code::TaskNotFound | Code::IdInvalid if among.unknown_is_no_match => {
                    self.unmatched(text, among)
                }
                _ => problem,
            });
            let meant = match named? {
                NamedTasks::One(task) => self.one(task, among).await?,
                NamedTasks::Batch(batch) => self.batch(batch, among).await?,
                NamedTasks::Pattern(pattern) => self.fitting(&pattern, among).await?,
            };
            if meant.tasks.is_empty() {
                return Err(nothing(text, among));
            }
            found.add(meant);
        }
        Ok(found)
    }

    /// The same, for verbs that do it to all of them or to none.
    pub(crate) async fn all_selected(
        &self,
        typed: &[String],
        among: &SelectionScope,
    ) -> Outcome<Vec<TaskId>> {
        let found = self.selected(typed, among).await?;
        if found.more {
            let message = format!("there are more than {MAX_TASKS} tasks to look through");
            return Err(Problem::new(Code::InvalidValue, message).hint("name the tasks, or their batch"));
        }
        Ok(found.tasks)
    }

    /// Outside of a repository only an id says which task is meant.
    fn unmatched(&self, text: &str, among: &SelectionScope) -> Problem {
        let everywhere = among.all_projects || among.batch.is_some();
        match self.repository() {
            Err(problem) if !everywhere && IdPrefix::<TaskId>::parse(text).is_err() => problem,
            _ => nothing(text, among),
        }
    }

    /// Beside a batch, a name means a task of that batch.
    async fn one(&self, task: TaskId, among: &SelectionScope) -> Outcome<Selected> {
        let Some(batch) = among.batch else { return Ok(Selected { tasks: vec![task], more: false }) };
        let mut found = self.batch(batch, among).await?;
        found.tasks.retain(|one| *one == task);
        Ok(found)
    }

    async fn batch(&self, batch: BatchId, among: &SelectionScope) -> Outcome<Selected> {
        let candidates = self.candidates(ops::TaskFilter { batch: Some(batch), ..Default::default() }, among);
        let (candidates, more) = candidates.await?;
        if candidates.is_empty() {
            return Err(self.no_batch(batch, among).await);
        }
        Ok(Selected { tasks: candidates.into_iter().map(|one| one.task).collect(), more })
    }

    async fn fitting(&self, pattern: &NamePattern, among: &SelectionScope) -> Outcome<Selected> {
        let everywhere = among.all_projects || among.batch.is_some();
        let project = if everywhere { None } else { self.known_project().await?.map(|project| project.id) };
        if project.is_none() && !everywhere {
            return Ok(Selected::default());
        }
        let filter = ops::TaskFilter { project, batch: among.batch, ..Default::default() };
        let (candidates, more) = self.candidates(filter, among).await?;
        let fits = |one: &NameCandidate| pattern.matches(&one.branch);
        Ok(Selected { tasks: candidates.into_iter().filter(fits).map(|one| one.task).collect(), more })
    }

    async fn candidates(
        &self,
        filter: ops::TaskFilter,
        among: &SelectionScope,
    ) -> Outcome<(Vec<NameCandidate>, bool)> {
        let statuses = ops::StatusFilter(among.states.iter().copied().map(Status::In).collect());
        let page = self.call(ops::ListTasks { statuses, filter, limit: MAX_TASKS, now: self.now() }).await?;
        let ids = page.tasks.iter().map(|task| task.id).collect();
        let followed = self.call(ops::FollowTasks { ids }).await?;
        let mut candidates: Vec<NameCandidate> = followed.iter().map(candidate).collect();
        lineage::retain_own(self, &mut candidates, |one| one.task).await?;
        Ok((candidates, page.more))
    }

    async fn no_batch(&self, batch: BatchId, among: &SelectionScope) -> Problem {
        let filter = ops::TaskFilter { batch: Some(batch), ..Default::default() };
        let any = ops::ListTasks { statuses: ops::StatusFilter::all(), filter, limit: 1, now: self.now() };
        match self.call(any).await {
            Err(problem) => problem,
            Ok(page) if page.tasks.is_empty() => no_batch(batch.as_str()),
            Ok(_) => {
                let message = format!("no task of the batch {batch} is {}", among.called);
                Problem::new(Code::NothingMatched, message)
                    .hint(format!("`fleet task list --all --batch {batch}` shows them"))
            }
        }
    }
}

impl Selected {
    fn add(&mut self, more: Self) {
        self.more |= more.more;
        if self.tasks.is_empty() {
            self.tasks = more.tasks;
            return;
        }
        for task in more.tasks {
            if !self.tasks.contains(&task) {
                self.tasks.push(task);
            }
        }
    }
}

fn candidate(one: &ops::FollowedTask) -> NameCandidate {
    NameCandidate { task: one.task.id, branch: branch_of(&one.task, one.run.as_ref()) }
}

/// The branch of a task: that of its newest run, or the one that it will have.
pub(crate) fn branch_of(task: &Task, run: Option<&Run>) -> String {
    let planned = || task.spec.branch.as_ref().map_or_else(|| own_branch(task.id), ToString::to_string);
    run.and_then(|run| run.branch.clone()).unwrap_or_else(planned)
}

fn nothing(typed: &str, among: &SelectionScope) -> Problem {
    let shown = escaped(&shortened(typed, LONGEST_NAME)).into_owned();
    Problem::new(Code::NothingMatched, format!("no {} task matches \"{shown}\"", among.called))
        .hint("`fleet task list --all` shows tasks; `-A` those of every project")
        .hint(
            "patterns match branches: `'login-*'`, `'fleet/*'`; quote patterns so the shell does not \
             expand them",
        )
}
