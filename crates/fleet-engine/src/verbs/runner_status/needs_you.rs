//! Tasks that need a person: dialogs in terminals, questions, failures, and what waits for those.

use fleet_api::verbs::runner_status::NeedsYou;
use fleet_core::deps::Obstacle;
use fleet_core::run::AgentStateNow;
use fleet_core::task::{Status, Task, TaskState};
use fleet_core::text::first_line;
use fleet_store::ops::{FollowedTask, ListRuns, ListTasks, RunFilter, StatusFilter};

use crate::engine::branch_of;
use crate::verbs::prelude::*;
use crate::verbs::question;

/// More would be a list: `fleet task list` has it.
const MAX_LISTED: usize = 10;
/// How many blocked tasks are searched for those that can never start.
const BLOCKED: i64 = 200;

/// More agents than any fleet has at work.
const MAX_LIVE: i64 = 10_000;

/// Those tasks, and whether there are more.
pub(super) async fn find(engine: &Engine) -> Outcome<(Vec<NeedsYou>, bool)> {
    let states = [TaskState::Waiting, TaskState::Failed].map(Status::In);
    let stuck = list(engine, states.to_vec(), i64::try_from(MAX_LISTED).unwrap_or(i64::MAX)).await?;
    let mut tasks: Vec<Task> = stuck.tasks;
    let blocked = list(engine, vec![Status::Blocked], BLOCKED).await?;
    let in_vain = |task: &Task| blocked.obstacles.get(&task.id).is_some_and(Obstacle::is_final);
    tasks.extend(blocked.tasks.iter().filter(|task| in_vain(task)).cloned());
    let mut ids = asking(engine).await?;
    ids.extend(tasks.iter().map(|task| task.id));
    let more = stuck.more || ids.len() > MAX_LISTED;
    ids.truncate(MAX_LISTED);
    let mut found = Vec::with_capacity(ids.len());
    for one in engine.call(ops::FollowTasks { ids }).await? {
        found.push(shown(engine, &one).await?);
    }
    Ok((found, more))
}

/// Tasks whose agents show a dialog in their terminals, the one that has waited longest first.
async fn asking(engine: &Engine) -> Outcome<Vec<TaskId>> {
    let filter = RunFilter { live_only: true, ..RunFilter::default() };
    let listed = engine.call(ListRuns { filter, limit: MAX_LIVE }).await?;
    let mut asking: Vec<_> =
        listed.iter().filter_map(|one| Some((dialog(&one.run)?.since, one.run.task))).collect();
    asking.sort_unstable();
    Ok(asking.into_iter().map(|(_, task)| task).collect())
}

fn dialog(run: &Run) -> Option<&AgentStateNow> {
    run.agent_state.as_ref().filter(|now| now.state.needs_person() && run.stop.is_none())
}

async fn list(engine: &Engine, statuses: Vec<Status>, limit: i64) -> Outcome<ops::TaskPage> {
    let filter = ops::TaskFilter::default();
    let list = ListTasks { statuses: StatusFilter(statuses), filter, limit, now: engine.now() };
    engine.call(list).await
}

async fn shown(engine: &Engine, one: &FollowedTask) -> Outcome<NeedsYou> {
    let id = one.task.id;
    if let Some(now) = one.run.as_ref().and_then(dialog) {
        return Ok(NeedsYou {
            status: now.state.label().to_owned(),
            why: first_line(&now.text).into_owned(),
            next: format!(
                "`fleet allow {id}` or `fleet deny {id}` answers; `fleet attach {id}` opens its terminal"
            ),
            ..blank(one)
        });
    }
    let why = match (one.task.state(), &one.obstacle) {
        (TaskState::Waiting, _) => {
            let asked = question::of(engine, one.run.as_ref()).await?;
            format!("asks: {}", asked.unwrap_or_default())
        }
        (_, Some(obstacle)) => {
            let on = obstacle.chain.last().map(|id| id.short().to_owned()).unwrap_or_default();
            format!("waits for {on}, which is {}", obstacle.state)
        }
        _ => {
            let history = &one.task.history;
            let reason = history.reason.map(|reason| reason.to_string());
            reason.into_iter().chain(history.remark.clone()).collect::<Vec<_>>().join(": ")
        }
    };
    let next = match one.task.state() {
        TaskState::Waiting => question::answer(id),
        _ => format!("`fleet why {id}` says what to do"),
    };
    let status = one.task.status(engine.now()).as_str().to_owned();
    Ok(NeedsYou { status, why: first_line(&why).into_owned(), next, ..blank(one) })
}

/// Which task it is, without what it needs.
fn blank(one: &FollowedTask) -> NeedsYou {
    NeedsYou {
        task: one.task.id,
        title: one.task.spec.title.to_string(),
        branch: branch_of(&one.task, one.run.as_ref()),
        status: String::new(),
        why: String::new(),
        next: String::new(),
    }
}
