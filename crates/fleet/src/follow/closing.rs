//! What is said at the end: what to do with what was done, and what to do about what was not.

use fleet_api::verbs::{run_result, why};
use fleet_api::views::{Followed, Launched};
use fleet_core::id::BatchId;
use fleet_core::problem::{Code, Problem};
use fleet_core::task::TaskState;
use fleet_core::text::{escaped, escaped_lines};

use super::tasks::Watched;
use super::{FollowEnd, words};
use crate::Done;
use crate::commands::Context;
use crate::exit::interrupted;
use crate::output::{count, dim, print, print_json};

/// So many tasks that are not done are named one by one.
const NAMED: usize = 5;

/// Says how it ended: as JSON the final state of all tasks, else what to do next. A task that is not done is a problem.
pub(crate) async fn conclude(context: &Context, batch: Option<BatchId>, watched: Watched) -> Done {
    let Watched { tasks, deleted, end } = watched;
    let problem = match tasks.as_slice() {
        [one] if one.task.state == TaskState::Waiting => Some(asked(context, one).await),
        _ => problem(batch, &tasks, deleted),
    };
    let launched = Launched { batch, tasks, existing_branches: Vec::new() };
    if context.output.is_json() {
        print_json(&launched)?;
    }
    if end == FollowEnd::Left {
        context.output.note(&leave(batch, &launched.tasks));
        interrupted();
    }
    if let Some(problem) = problem {
        return Err(problem);
    }
    if let ([one], false) = (launched.tasks.as_slice(), context.output.is_json()) {
        show_findings(context, one).await?;
    }
    context.output.note(&dim(&advice(&launched.tasks)));
    Ok(())
}

/// The question of an agent, and how to answer it.
async fn asked(context: &Context, one: &Followed) -> Problem {
    let problem = failure_of_one(one);
    let Ok(why) = context.call(why::Request { id: one.task.id.to_string() }).await else { return problem };
    Problem { message: format!("{} waits for you: {}", one.branch(), why.what.trim_end()), ..problem }
}

/// What a task that only looks has found is its answer.
async fn show_findings(context: &Context, one: &Followed) -> Done {
    let Some(run) = one.run.as_ref().filter(|_| one.task.read_only) else { return Ok(()) };
    let found = context.call(run_result::Request { id: run.id.to_string() }).await?.result;
    found.map_or(Ok(()), |result| print(&escaped_lines(&result.summary)))
}

pub(super) fn leave(batch: Option<BatchId>, tasks: &[Followed]) -> String {
    let which = match (batch, tasks) {
        (Some(batch), _) => format!("--batch {batch}"),
        (None, [one]) => escaped(&one.branch()).into_owned(),
        (None, _) => "BRANCH".to_owned(),
    };
    format!("agents keep running: `fleet list` shows them, `fleet kill {which}` stops them")
}

/// For somebody whose tasks are all done.
pub(super) fn advice(tasks: &[Followed]) -> String {
    match tasks {
        [one] if one.task.read_only => format!("`fleet show {}` shows what it found", one.task.id),
        [one] => {
            let branch = one.branch();
            let branch = escaped(&branch);
            format!("`fleet diff {branch}` shows what changed, `git merge {branch}` merges it")
        }
        several if several.iter().all(|one| one.task.read_only) => {
            format!("{} done: `fleet show ID` shows what each found", count(several.len(), "task"))
        }
        several if several.iter().all(|one| one.task.title == several[0].task.title) => format!(
            "{} done: `fleet diff BRANCH` shows the changes of one, `fleet keep BRANCH` keeps it and drops the others",
            count(several.len(), "task")
        ),
        several => format!(
            "{} done: `fleet diff BRANCH` shows the changes of one, `git merge BRANCH` merges them",
            count(several.len(), "task")
        ),
    }
}

/// What is not done, if anything is not.
pub(super) fn problem(batch: Option<BatchId>, tasks: &[Followed], deleted: usize) -> Option<Problem> {
    let open: Vec<&Followed> = tasks.iter().filter(|one| !one.is_done()).collect();
    match (open.as_slice(), deleted) {
        ([], 0) => None,
        ([], number) => Some(Problem::new(
            Code::RunFailed,
            format!(
                "{} deleted before the end",
                if number == 1 { "1 task was".to_owned() } else { format!("{number} tasks were") }
            ),
        )),
        ([one], 0) if tasks.len() == 1 => Some(failure_of_one(one)),
        (several, _) => {
            let message = format!("{} of {} not done", several.len(), count(tasks.len() + deleted, "task"));
            let named = several.iter().take(NAMED).map(|one| {
                let name = name(one);
                let next = if one.task.state == TaskState::Waiting { "answer" } else { "resume" };
                format!("{}: `fleet why {name}`, `fleet logs {name}`, `fleet {next} {name}`", task_line(one))
            });
            let more = several.len().checked_sub(NAMED + 1);
            let more = more.map(|more| format!("and {} more: `fleet task list`", more + 1));
            let all = batch.map(|batch| format!("`fleet resume --batch {batch}` resumes all of them"));
            Some(Problem::new(Code::RunFailed, message).hints(named.chain(more).chain(all)))
        }
    }
}

fn failure_of_one(one: &Followed) -> Problem {
    let name = name(one);
    let problem = Problem::new(Code::RunFailed, task_line(one));
    let never_started = one.run.as_ref().is_some_and(|run| run.started_at.is_none());
    let problem = match one.task.state {
        // What kept its agent from starting may do so again.
        TaskState::Failed if never_started => {
            return problem.hint(format!("`fleet why {name}` explains it, and what to do about it"));
        }
        TaskState::Waiting => return problem.hint(format!("`fleet answer {name} \"…\"` answers it")),
        TaskState::Held | TaskState::Queued => problem,
        _ => problem
            .hint(format!("`fleet why {name}` explains it, `fleet logs {name}` shows what the agent said")),
    };
    problem.hint(format!("`fleet resume {name}` resumes it, from the work on its branch"))
}

/// What people type for it: its branch if they chose one, else the short form of its id.
fn name(one: &Followed) -> String {
    let short = || one.task.id.short().to_owned();
    one.task.branch.as_deref().map_or_else(short, |branch| escaped(branch).into_owned())
}

/// One task that is not done, and why.
fn task_line(one: &Followed) -> String {
    let state = match one.task.state {
        TaskState::Waiting => "waits for you".to_owned(),
        TaskState::Held => "is held".to_owned(),
        TaskState::Cancelled => "was cancelled".to_owned(),
        TaskState::Queued => "does not start".to_owned(),
        state => state.to_string(),
    };
    match words::cause(one) {
        Some(cause) => format!("{} {state}: {cause}", one.branch()),
        None => format!("{} {state}", one.branch()),
    }
}
