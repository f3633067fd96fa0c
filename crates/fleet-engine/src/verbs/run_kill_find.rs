use fleet_api::verbs::run_kill_find::{Answer, KillTarget, Request};
use fleet_core::task::TaskState;
use fleet_store::ops::FollowedTask;

use super::prelude::*;
use crate::engine::{SelectionScope, branch_of};

/// Those at work come first, so only the end of a very long queue is left out.
const OPEN: [TaskState; 4] = [TaskState::Running, TaskState::Waiting, TaskState::Queued, TaskState::Held];

/// Finds everything that is not over and that is meant. A name that means a finished task is a mistake, and then nothing
/// is stopped.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let batch = engine.given_batch(request.batch.as_deref()).await?;
    let among = SelectionScope {
        batch,
        all_projects: request.all_projects,
        unknown_is_no_match: true,
        ..SelectionScope::of(&OPEN, "running or queued")
    };
    let found = engine.selected(&request.patterns, &among).await?;
    let mut followed = engine.call(ops::FollowTasks { ids: found.tasks }).await?;
    if let Some(over) = followed.iter().find(|one| one.task.state().is_settled()) {
        return Err(finished(over));
    }
    followed.sort_by_key(|one| OPEN.iter().position(|state| *state == one.task.state()));
    Ok(Answer { targets: followed.iter().map(target).collect(), more: found.more })
}

fn target(one: &FollowedTask) -> KillTarget {
    let live = one.run.as_ref().filter(|run| run.state.is_live());
    KillTarget {
        task: one.task.id,
        title: one.task.spec.title.to_string(),
        state: one.task.state(),
        branch: branch_of(&one.task, live),
        run: live.map(|run| run.id),
        agent: live.map(|run| run.agent.clone()),
    }
}

fn finished(one: &FollowedTask) -> Problem {
    let (id, branch) = (one.task.id, branch_of(&one.task, one.run.as_ref()));
    Problem::new(Code::NothingMatched, format!("task {id} ({branch}) has already finished"))
        .hint(format!("`fleet show {id}` shows how; `fleet clean {branch}` removes its branch"))
}
