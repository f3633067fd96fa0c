use std::collections::BTreeMap;

use fleet_api::verbs::run_kill_find::{Answer, Request, Target};
use fleet_core::glob::NamePattern;
use fleet_core::id::{IdPrefix, RunId, TaskId};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::run::Run;
use fleet_core::task::{Status, Task, TaskState, own_branch};
use fleet_core::text::escaped;
use fleet_store::{StoreError, ops};

use super::lineage;
use crate::{Engine, problems};

/// At most this many tasks are considered. Running ones come first, so only the end of a very long queue is left out.
const MOST: i64 = 10_000;

/// Finds everything that is not over and that is meant. Each pattern has to mean something: one that does not is a
/// typing error, and then nothing is stopped.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let batch = request.batch.as_deref().map(problems::batch).transpose()?;
    let everywhere = request.all_projects || batch.is_some();
    // Outside of a repository only an id says which task is meant.
    let is_outside = engine.repository().is_err();
    let project =
        if everywhere || is_outside { None } else { engine.known_project().await?.map(|project| project.id) };
    let mut open = Open { targets: Vec::new(), more: false };
    if everywhere || project.is_some() {
        open = look(engine, ops::TaskFilter { project, batch, ..Default::default() }).await?;
        lineage::retain_own(engine, &mut open.targets, |target| target.task).await?;
    }
    let mut meant: Vec<usize> = if batch.is_some() && request.patterns.is_empty() {
        (0..open.targets.len()).collect()
    } else {
        Vec::new()
    };
    for text in &request.patterns {
        let found = match open.fitting(text)? {
            found if !found.is_empty() => found,
            _ if batch.is_none() => open.by_id(engine, text).await?.into_iter().collect(),
            found => found,
        };
        if found.is_empty() {
            return Err(match engine.repository() {
                Err(problem) if !everywhere && !is_id(text) => problem,
                _ => nothing(engine, text).await,
            });
        }
        meant.extend(found);
    }
    if meant.is_empty() {
        let message = "nothing of this batch is running or queued";
        return Err(
            Problem::new(Code::NothingMatched, message).hint("`fleet task list --all -A` shows every task")
        );
    }
    meant.sort_unstable();
    meant.dedup();
    let mut kept = meant.into_iter().peekable();
    let chosen = |(at, _): &(usize, Target)| kept.next_if_eq(at).is_some();
    let targets: Vec<Target> =
        open.targets.into_iter().enumerate().filter(chosen).map(|(_, target)| target).collect();
    Ok(Answer { targets, more: open.more })
}

/// What has not ended.
struct Open {
    targets: Vec<Target>,
    more: bool,
}

async fn look(engine: &Engine, filter: ops::TaskFilter) -> Outcome<Open> {
    let runs = ops::RunFilter {
        live_only: true,
        project: filter.project,
        batch: filter.batch,
        ..Default::default()
    };
    let states = [TaskState::Running, TaskState::Waiting, TaskState::Queued, TaskState::Held];
    let statuses = ops::StatusFilter(states.map(Status::In).to_vec());
    let page = engine.call(ops::ListTasks { statuses, filter, limit: MOST, now: engine.now() }).await?;
    let live = engine.call(ops::ListRuns { filter: runs, limit: MOST }).await?;
    let live: BTreeMap<TaskId, Run> = live.into_iter().map(|listed| (listed.run.task, listed.run)).collect();
    let targets = page.tasks.iter().map(|task| target(task, live.get(&task.id))).collect();
    Ok(Open { targets, more: page.more })
}

fn target(task: &Task, live: Option<&Run>) -> Target {
    let planned = || task.spec.branch.as_ref().map_or_else(|| own_branch(task.id), ToString::to_string);
    Target {
        task: task.id,
        title: task.spec.title.to_string(),
        state: task.state(),
        branch: live.and_then(|run| run.branch.clone()).unwrap_or_else(planned),
        run: live.map(|run| run.id),
        agent: live.map(|run| run.agent.clone()),
    }
}

impl Open {
    /// Those that fit a pattern, or the name or the beginning of an id.
    fn fitting(&self, text: &str) -> Outcome<Vec<usize>> {
        if NamePattern::has_wildcards(text) || text.is_empty() {
            let pattern = NamePattern::parse(text)
                .map_err(|error| Problem::new(Code::InvalidValue, error.to_string()))?;
            let fits = |target: &Target| {
                let run = target.run.map(|run| run.to_string());
                [Some(target.branch.clone()), Some(target.task.to_string()), run]
                    .iter()
                    .flatten()
                    .any(|name| pattern.matches(name))
            };
            return Ok(self.positions(fits));
        }
        let named = self.positions(|target| target.branch == text);
        if !named.is_empty() {
            return Ok(named);
        }
        let (task, run) = (IdPrefix::<TaskId>::parse(text).ok(), IdPrefix::<RunId>::parse(text).ok());
        let found = self.positions(|target| {
            task.as_ref().is_some_and(|prefix| target.task.as_str().starts_with(prefix.as_str()))
                || run
                    .as_ref()
                    .zip(target.run)
                    .is_some_and(|(prefix, id)| id.as_str().starts_with(prefix.as_str()))
        });
        if found.len() > 1 {
            let matches = found.iter().take(5).map(|at| self.targets[*at].task.to_string()).collect();
            return Err(problems::store(StoreError::Ambiguous {
                prefix: escaped(text).into_owned(),
                matches,
            }));
        }
        Ok(found)
    }

    fn positions(&self, fits: impl Fn(&Target) -> bool) -> Vec<usize> {
        let all = self.targets.iter().enumerate();
        all.filter(|(_, target)| fits(target)).map(|(at, _)| at).collect()
    }

    /// A task of another project, or at the far end of a long queue: ids mean the same everywhere.
    async fn by_id(&mut self, engine: &Engine, text: &str) -> Outcome<Option<usize>> {
        if NamePattern::has_wildcards(text) {
            return Ok(None);
        }
        let Some(id) = task_of(engine, text).await? else { return Ok(None) };
        lineage::check(engine, id).await?;
        let detail = engine.call(ops::GetTask { id }).await?;
        if detail.task.state().is_settled() {
            return Ok(None);
        }
        let live = detail.runs.into_iter().find(|run| run.state.is_live());
        self.targets.push(target(&detail.task, live.as_ref()));
        Ok(Some(self.targets.len() - 1))
    }
}

/// The task that somebody means by its id or by that of a run.
async fn task_of(engine: &Engine, text: &str) -> Outcome<Option<TaskId>> {
    match engine.task_id(text).await {
        Err(problem) if matches!(problem.code, Code::TaskNotFound | Code::IdInvalid) => Ok(None),
        found => found.map(Some),
    }
}

fn is_id(text: &str) -> bool {
    IdPrefix::<TaskId>::parse(text).is_ok() || IdPrefix::<RunId>::parse(text).is_ok()
}

async fn nothing(engine: &Engine, text: &str) -> Problem {
    let shown = escaped(text);
    let over = task_of(engine, text).await.ok().flatten();
    let message = match over {
        Some(id) => format!("task {id} ({shown:?}) has already finished"),
        None => format!("no running or queued task matches {shown:?}"),
    };
    Problem::new(Code::NothingMatched, message)
        .hint("`fleet task list` shows tasks; `-A` looks in every project")
        .hint(
            "patterns match branches and ids: `'login-*'`, `'fleet/*'`; quote patterns so the shell does not \
             expand them",
        )
}
