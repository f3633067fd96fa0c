//! Takes up tasks again that did not come to their end: they are queued once more, and go on with the work that is on
//! their branches.

use fleet_api::verbs::resume::Request;
use fleet_api::views::Launched;
use fleet_core::id::{BatchId, TaskId};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::task::{Status, TaskMove, TaskState};
use fleet_core::text::escaped;
use fleet_store::ops::{self, ListTasks, StatusFilter, TaskFilter};

use super::create::check_agent;
use super::{follow, lineage};
use crate::{Engine, problems};

/// States from which a user can resume a task.
const RESUMABLE: [TaskState; 4] =
    [TaskState::Failed, TaskState::Cancelled, TaskState::Waiting, TaskState::Held];

/// More than any batch that is launched by hand.
const MOST: i64 = 1_000;

/// Queues the tasks again; starting them is the caller's business.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Launched> {
    let batch = request.batch.as_deref().map(problems::batch).transpose()?;
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
    Ok(Launched { batch, tasks: follow::look(engine, &ids).await? })
}

/// The task that somebody means, for verbs whose users think of runs and branches rather than of tasks.
pub(crate) async fn meant(engine: &Engine, typed: &str) -> Outcome<TaskId> {
    engine.task_id(typed).await.map_err(|problem| match problem.code {
        Code::TaskNotFound | Code::IdInvalid => {
            let message = format!("no task, run or branch is called \"{}\"", escaped(typed));
            Problem::new(Code::TaskNotFound, message).hint("`fleet task list --all` shows every task")
        }
        _ => problem,
    })
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
        let message = format!("the batch {batch} has more than {MOST} tasks to resume");
        return Err(Problem::new(Code::InvalidValue, message).hint("name them: `fleet resume ID…`"));
    }
    if page.tasks.is_empty() {
        let is_known = !engine.call(list(StatusFilter::all())).await?.tasks.is_empty();
        return Err(if is_known {
            let message = format!("every task of the batch {batch} is done, queued or running");
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
