//! What comes next for a task by itself, and what it waits for.

use fleet_core::deps;
use fleet_core::run::Reason;
use fleet_core::task::{Status, Task, TaskMode, TaskState};

use super::{NextStep, takers};
use crate::runner::registry::{self, Runner};
use crate::verbs::prelude::*;
use crate::verbs::{queue_pauses, reasons, task_show};
use crate::{agents, runner};

pub(super) async fn next(engine: &Engine, task: &Task, agent: &str) -> Outcome<NextStep> {
    Ok(match task.status(engine.now()) {
        Status::In(TaskState::Running) if engine.home().frozen().exists() => {
            NextStep::now("nothing while every agent here is frozen: `fleet unfreeze` lets them continue")
        }
        Status::In(TaskState::Running) if task.spec.mode.is_interactive() => {
            NextStep::now("runs until somebody closes it, or it hits a limit of its task")
        }
        Status::In(TaskState::Running) => NextStep::now("runs until the agent finishes or hits a limit"),
        Status::In(TaskState::Done) => NextStep::now("nothing; `fleet prompt` continues it"),
        Status::In(TaskState::Failed) => NextStep::now("nothing without you: it needs your attention"),
        Status::In(TaskState::Cancelled) => NextStep::now("nothing, unless you retry it"),
        Status::In(TaskState::Held) => NextStep::now("nothing until it is released"),
        Status::In(TaskState::Waiting) => NextStep::now("nothing until you answer"),
        Status::Blocked => blocked(engine, task).await?,
        Status::Scheduled => scheduled(engine, task, agent).await?,
        Status::Ready | Status::In(TaskState::Queued) => ready(engine, task, agent).await?,
    })
}

async fn scheduled(engine: &Engine, task: &Task, agent: &str) -> Outcome<NextStep> {
    if let Some(paused) = queue_pauses::of_task(engine, task.project, agent).await? {
        return Ok(NextStep::now(format!("nothing: {}", paused.sentence())));
    }
    let again = task.history.has_failed();
    let starts = if again { "it is retried at that time" } else { "it starts at that time" };
    let obstacle = takers::obstacle(engine, task.project, agent).await?;
    let text = obstacle.map_or_else(
        || starts.to_owned(),
        |obstacle| format!("nothing while {obstacle}; otherwise {starts}"),
    );
    Ok(NextStep { text, at: task.due().map(Moment) })
}

async fn blocked(engine: &Engine, task: &Task) -> Outcome<NextStep> {
    let obstacle = task_show::obstacle(engine, task.id).await?;
    let on = obstacle.and_then(|obstacle| Some((*obstacle.chain.last()?, obstacle.state)));
    Ok(NextStep::now(match on {
        Some((id, state @ (TaskState::Failed | TaskState::Cancelled))) => {
            format!("nothing: it waits for {id}, which is {state}")
        }
        Some((id, state)) => format!("it starts when what it waits for is done: {id} is {state}"),
        None => "it starts when what it waits for is done".to_owned(),
    }))
}

/// What a person can do about a task that waits for something that does not come by itself.
pub(super) async fn advice(engine: &Engine, task: &Task, agent: &str) -> Outcome<Vec<String>> {
    match task.status(engine.now()) {
        Status::Blocked => {
            let obstacle = task_show::obstacle(engine, task.id).await?.filter(deps::Obstacle::is_final);
            let Some(chain) = obstacle.map(|obstacle| obstacle.chain) else { return Ok(Vec::new()) };
            let (Some(direct), Some(cause)) = (chain.first(), chain.last()) else { return Ok(Vec::new()) };
            Ok(vec![
                format!("`fleet task retry {cause}` requeues that one"),
                format!("or do not wait: `fleet task dep remove {} {direct}`", task.id),
            ])
        }
        Status::Ready | Status::Scheduled => {
            let mut advice = takers::advice(engine, task.project).await?;
            if !runner::can_start(engine, agent)? {
                advice.extend(reasons::remedy(engine, Reason::AgentMissing, task, agent)?);
            }
            Ok(advice)
        }
        Status::In(_) => Ok(Vec::new()),
    }
}

/// Why a task that could start does not. Names the first obstacle; others come to light when it is gone.
async fn ready(engine: &Engine, task: &Task, agent: &str) -> Outcome<NextStep> {
    if let Some(paused) = queue_pauses::of_task(engine, task.project, agent).await? {
        return Ok(NextStep::now(format!("nothing: {}", paused.sentence())));
    }
    if let Some(obstacle) = takers::obstacle(engine, task.project, agent).await? {
        return Ok(NextStep::now(format!("nothing: {obstacle}")));
    }
    let now = clock::now();
    let account = agents::account(engine, agent)?;
    let pauses = engine.call(ops::ListPauses { now }).await?;
    if let Some(pause) = pauses.into_iter().find(|pause| pause.account == account) {
        let text = format!("it starts when the pause of the account `{account}` ends: {}", pause.why);
        return Ok(NextStep { text, at: Some(Moment(pause.until)) });
    }
    if let Some(budget) = agents::budget(engine.config()?) {
        let spent = engine.call(ops::Spending { now }).await?;
        if let Err(shortage) = budget.reserve(&spent, task.spec.limits) {
            let text =
                format!("nothing until there is more to spend: {shortage} (`fleet config set budget…`)");
            return Ok(NextStep::now(text));
        }
    }
    if let Some(shortage) = shortage(engine)? {
        return Ok(NextStep::now(format!("it starts when this machine can bear another agent: {shortage}")));
    }
    if let Some(full) = full(engine, task.spec.mode).await? {
        return Ok(NextStep::now(full));
    }
    Ok(NextStep::now("it starts once no cap, budget or running task on the same files blocks it"))
}

/// What all runners here wait for. A runner elsewhere may have it.
fn shortage(engine: &Engine) -> Outcome<Option<String>> {
    let up = registry::taking_tasks(engine.home())?;
    let all_short = up.iter().all(|runner| runner.shortage.is_some());
    Ok(up.into_iter().next().filter(|_| all_short).and_then(|runner| Some(runner.shortage?.1)))
}

/// What a task of this mode waits for, if there is no room for it here. A runner elsewhere may have some.
async fn full(engine: &Engine, mode: TaskMode) -> Outcome<Option<String>> {
    let up = registry::up(engine.home())?;
    let live = engine.call(ops::LiveRuns { place: engine.place()? }).await?;
    let running = live.iter().filter(|run| run.mode == mode).count();
    let sum = |number: fn(&Runner) -> u32| up.iter().map(|runner| number(runner) as usize).sum::<usize>();
    let room = match mode {
        TaskMode::Headless => sum(|runner| runner.slots),
        TaskMode::Interactive => sum(|runner| runner.terminals),
    };
    Ok((!up.is_empty() && running >= room).then(|| no_room(mode, running, room)))
}

fn no_room(mode: TaskMode, running: usize, room: usize) -> String {
    match (mode, room) {
        (TaskMode::Headless, _) => format!("it starts when a slot is free: {running} of {room} slots busy"),
        (TaskMode::Interactive, 0) => "nothing: `runner.terminals` is 0 here".to_owned(),
        (TaskMode::Interactive, _) => {
            format!(
                "it starts when another interactive run ends: {running} of {room} (`runner.terminals`) are open"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_never_waits_for_a_slot() {
        let told = |mode, room| no_room(mode, 4, room);
        insta::assert_snapshot!(told(TaskMode::Headless, 4), @"it starts when a slot is free: 4 of 4 slots busy");
        insta::assert_snapshot!(told(TaskMode::Interactive, 4), @"it starts when another interactive run ends: 4 of 4 (`runner.terminals`) are open");
        insta::assert_snapshot!(told(TaskMode::Interactive, 0), @"nothing: `runner.terminals` is 0 here");
    }
}
