//! Takes up tasks again that did not come to their end: they are queued once more, and go on with the work that is on
//! their branches.

use fleet_core::id::{BatchId, ProjectId, TaskId};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::task::{Status, TaskMove, TaskState};
use fleet_core::text::escaped;
use fleet_store::StoreError;
use fleet_store::ops::{self, ListTasks, StatusFilter, TaskFilter};

use super::follow::Followed;
use super::launch::{Launched, check_agent};
use super::lineage;
use crate::{Engine, problems};

/// Which tasks.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Ids of tasks or runs, the beginnings of them, or branches: all of them are taken up, or none.
    pub ids: Vec<String>,
    /// All tasks of this batch that can be taken up.
    pub batch: Option<String>,
}

/// What a person can take up again.
const RESUMABLE: [TaskState; 4] =
    [TaskState::Failed, TaskState::Cancelled, TaskState::Waiting, TaskState::Held];

/// More than any batch that is launched by hand.
const MOST: i64 = 1_000;

/// Queues the tasks again; nobody is told to start them yet, see [`super::launch::wake`].
pub async fn run(engine: &Engine, request: Request) -> Outcome<Launched> {
    let batch = request.batch.as_deref().map(str::parse::<BatchId>).transpose().map_err(problems::id)?;
    let mut ids: Vec<TaskId> = Vec::new();
    for typed in &request.ids {
        let id = meant(engine, typed).await?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    if let Some(batch) = batch {
        let of_batch = unfinished(engine, batch).await?;
        ids.extend(of_batch.into_iter().filter(|id| !ids.contains(id)).collect::<Vec<_>>());
    }
    lineage::check_all(engine, ids.iter().copied()).await?;
    let default_agent = engine.config()?.agent();
    for one in engine.call(ops::FollowTasks { ids: ids.clone() }).await? {
        let agent = one.task.agent().map_or(default_agent, |agent| agent.as_str());
        check_agent(engine, agent)?;
    }
    let now = engine.now();
    let again = |id: &TaskId| ops::MoveTask { id: *id, event: TaskMove::Retry, remark: None, now };
    engine.call(ops::All(ids.iter().map(again).collect())).await?;
    let seen = engine.call(ops::FollowTasks { ids }).await?;
    let now = engine.now();
    Ok(Launched { batch, tasks: seen.iter().map(|one| Followed::new(one, now)).collect() })
}

/// The task that somebody means: by its own id, by a run or branch of it, or by the branch that it will have.
pub async fn meant(engine: &Engine, typed: &str) -> Outcome<TaskId> {
    match engine.task_id(typed).await {
        Err(problem) if matches!(problem.code, Code::TaskNotFound | Code::IdInvalid) => {}
        other => return other,
    }
    let project = engine.known_project().await.ok().flatten().map(|project| project.id);
    let find = ops::ResolveRun { typed: typed.to_owned(), project };
    match engine.store().await?.call(find).await {
        Ok(run) => Ok(engine.call(ops::GetRun { run }).await?.run.task),
        Err(StoreError::RunNotFound(_)) => planned(engine, project, typed).await,
        Err(error) => Err(problems::store(error)),
    }
}

/// The task that has chosen a branch, and has no run with a workspace.
async fn planned(engine: &Engine, project: Option<ProjectId>, branch: &str) -> Outcome<TaskId> {
    if let Some(task) = engine.task_of_branch(project, branch).await? {
        return Ok(task);
    }
    let message = format!("there is no task, run or branch of a run \"{}\"", escaped(branch));
    Err(Problem::new(Code::TaskNotFound, message).hint("`fleet task list --all` shows every task"))
}

/// The tasks of a batch that can be taken up again, in the order in which they were added.
async fn unfinished(engine: &Engine, batch: BatchId) -> Outcome<Vec<TaskId>> {
    let list = |statuses| ListTasks {
        statuses,
        filter: TaskFilter { batch: Some(batch), ..TaskFilter::default() },
        limit: MOST,
        now: engine.now(),
    };
    let page = engine.call(list(StatusFilter(RESUMABLE.map(Status::In).to_vec()))).await?;
    if page.more {
        let message = format!("the batch {batch} has more than {MOST} tasks to take up");
        return Err(Problem::new(Code::InvalidValue, message).hint("name them: `fleet resume ID…`"));
    }
    if page.tasks.is_empty() {
        let is_known = !engine.call(list(StatusFilter::all())).await?.tasks.is_empty();
        return Err(if is_known {
            let message = format!("every task of the batch {batch} is done or on its way");
            Problem::new(Code::IllegalTransition, message)
                .hint(format!("`fleet task list --all --batch {batch}` shows them"))
        } else {
            Problem::new(Code::TaskNotFound, format!("there is no batch {batch}"))
                .hint("`fleet list --all --grouped` shows them")
        });
    }
    let mut ids: Vec<TaskId> = page.tasks.iter().map(|task| task.id).collect();
    ids.sort_unstable();
    Ok(ids)
}
