use fleet_api::verbs::run_mode::{Answer, Request};
use fleet_core::task::{Task, TaskMode, TaskState};

use super::create::{has_terminal, no_terminal};
use super::prelude::*;
use crate::cancellation::wake_keeper;

pub(crate) async fn run(engine: &Engine, Request { id, mode }: Request) -> Outcome<Answer> {
    let id = engine.task_id(&id).await?;
    let task = engine.call(ops::GetTask { id }).await?.task;
    check(engine, &task, mode)?;
    let why = match mode {
        TaskMode::Interactive => "continues in a terminal",
        TaskMode::Headless => "continues headless",
    };
    let switch = ops::SwitchMode { id, mode, why: why.to_owned(), now: engine.now() };
    let ops::SwitchedMode { stopped, unchanged, .. } = engine.call(switch).await?;
    if let Some(run) = &stopped {
        wake_keeper(run.keeper.as_deref());
    }
    Ok(Answer { task: id, mode, stopped: stopped.map(|run| run.id), unchanged })
}

/// What cannot be is refused before anything is stopped.
fn check(engine: &Engine, task: &Task, mode: TaskMode) -> Outcome<()> {
    let id = task.id;
    if task.part.is_some() {
        return Err(Problem::new(Code::IllegalTransition, format!("task {id} is a stage of a workflow"))
            .hint("stages run without a terminal; `fleet logs ID --follow` shows what its agent does"));
    }
    if mode == TaskMode::Headless {
        let is_over = matches!(task.state(), TaskState::Done | TaskState::Failed | TaskState::Cancelled);
        let is_empty = task.spec.is_opened_for_person();
        return match (is_over, is_empty) {
            (true, _) => Err(is_finished(task)),
            (false, true) => Err(has_no_prompt(task)),
            (false, false) => Ok(()),
        };
    }
    let default_agent = engine.config()?.agent();
    let agent = task.agent().map_or(default_agent, |agent| agent.as_str());
    if has_terminal(engine, agent)? { Ok(()) } else { Err(no_terminal(agent)) }
}

/// Alone, an agent would not know what to do.
fn has_no_prompt(task: &Task) -> Problem {
    Problem::new(Code::IllegalTransition, format!("task {} was opened without a prompt", task.id))
        .hint(format!("`fleet prompt {} \"…\"` tells it what to do, in its terminal", task.id))
        .hint("`fleet create BRANCH -p \"…\"` launches an agent that works alone")
}

fn is_finished(task: &Task) -> Problem {
    let message = format!("task {} is {}: no agent works on it", task.id, task.state());
    Problem::new(Code::IllegalTransition, message)
        .hint(format!("`fleet prompt {} \"…\"` continues its conversation", task.id))
        .hint(format!("`fleet resume {}` takes it up again, if it failed or was cancelled", task.id))
}
