use fleet_api::verbs::run_prompt_find::{Answer, PromptTarget, Request};
use fleet_core::task::TaskState;
use fleet_core::text::escaped;

use super::prelude::*;
use crate::engine::{SelectionScope, branch_of};

const OPEN: [TaskState; 4] = [TaskState::Running, TaskState::Waiting, TaskState::Queued, TaskState::Held];

/// Finds those that are not over. Finished ones would be queued again, so a pattern means them only if that is wanted.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let typed = [request.pattern.clone()];
    let everything = SelectionScope::of(TaskState::ALL, "");
    if request.finished {
        return answer(engine, engine.all_selected(&typed, &everything).await?).await;
    }
    match engine.all_selected(&typed, &SelectionScope::of(&OPEN, "running or queued")).await {
        Err(problem) if problem.code == Code::NothingMatched => {
            let finished = engine.all_selected(&typed, &everything).await.unwrap_or_default();
            Err(if finished.is_empty() { problem } else { only_finished(&request.pattern, finished.len()) })
        }
        found => answer(engine, found?).await,
    }
}

async fn answer(engine: &Engine, ids: Vec<TaskId>) -> Outcome<Answer> {
    let followed = engine.call(ops::FollowTasks { ids }).await?;
    let target = |one: &ops::FollowedTask| PromptTarget {
        task: one.task.id,
        branch: branch_of(&one.task, one.run.as_ref()),
        state: one.task.state(),
    };
    Ok(Answer { targets: followed.iter().map(target).collect() })
}

fn only_finished(pattern: &str, number: usize) -> Problem {
    let (pattern, are) = (escaped(pattern), if number == 1 { "task is" } else { "tasks are" });
    let message = format!("no running or queued task matches \"{pattern}\"; {number} {are} finished");
    Problem::new(Code::NothingMatched, message)
        .hint(format!("`fleet prompt --all '{pattern}' \"…\"` requeues them with the message"))
}
