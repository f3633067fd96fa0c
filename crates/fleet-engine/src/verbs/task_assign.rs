//! Says who does a task, how urgent it is, and whether it may start: all of it at once, or nothing.

use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::task::{AgentName, Task, TaskEdit, TaskMove, TaskState};
use fleet_store::ops;
use serde::{Deserialize, Serialize};

use super::task_edit;
use crate::Engine;
use crate::views::TaskView;

/// What is to be different.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The task: its id or the beginning of it.
    pub task: String,
    /// Which agent does it.
    #[serde(default)]
    pub agent: Option<String>,
    /// Which model that uses. Without one, the model of another agent is forgotten.
    #[serde(default)]
    pub model: Option<String>,
    /// How urgent it is, from 1 to 5; 5 is served first.
    #[serde(default)]
    pub priority: Option<i64>,
    /// Whether it may start.
    #[serde(default)]
    pub start: Start,
}

/// Whether a task may start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// As before.
    #[default]
    Unchanged,
    /// Not until somebody says so.
    Hold,
    /// As soon as its turn comes: a held one is released, a failed, cancelled or waiting one tried again.
    Queue,
}

/// The task as it is now, and what changed.
#[derive(Debug, Clone, Serialize)]
pub struct Response {
    /// The task.
    #[serde(flatten)]
    pub task: TaskView,
    /// The names of the fields that are different now; `state` if it was moved.
    pub changed: Vec<&'static str>,
}

/// Assigns it.
pub async fn run(engine: &Engine, request: Request) -> Outcome<Response> {
    let id = engine.task_id(&request.task).await?;
    let before = engine.call(ops::GetTask { id }).await?.task;
    let edit = edit(engine, &request, &before)?;
    let event = event(&before, request.start)?;
    let is_edit = edit != TaskEdit::default();
    if is_edit {
        check(&before, &edit, event)?;
        task_edit::check_model(engine, &edit, &before.spec)?;
    }
    let now = engine.now();
    let changing = ops::EditTask { id, edit, now };
    let moving = event.map(|event| ops::MoveTask { id, event, remark: None, now });
    let (task, mut changed) = match (moving, is_edit) {
        (None, false) => (before, Vec::new()),
        (None, true) => engine.call(changing).await?,
        (Some(moving), false) => (engine.call(moving).await?, Vec::new()),
        // Moved first: a cancelled task can change only when it is taken up again.
        (Some(moving), true) => engine.call(ops::Both(moving, changing)).await?.1,
    };
    changed.extend(event.map(|_| "state"));
    Ok(Response { task: TaskView::new(&task, now).described(&task), changed })
}

fn edit(engine: &Engine, request: &Request, before: &Task) -> Outcome<TaskEdit> {
    let was = before.spec.agent.as_ref().map(AgentName::as_str);
    let is_another = request.agent.is_some() && request.agent.as_deref() != was;
    let forgets = is_another && request.model.is_none() && before.spec.model.is_some();
    let wish = task_edit::Request {
        agent: request.agent.clone(),
        model: request.model.clone(),
        priority: request.priority,
        clear: if forgets { vec!["model".to_owned()] } else { Vec::new() },
        ..task_edit::Request::default()
    };
    let edit = task_edit::edit(engine, &wish, &before.spec)?;
    if edit == TaskEdit::default() && request.start == Start::Unchanged {
        return Err(Problem::new(Code::Usage, "nothing to assign was given")
            .hint("give an agent, a model, a priority, or whether it may start"));
    }
    Ok(edit)
}

/// What has to happen to the task; nothing if it stands there already.
fn event(task: &Task, start: Start) -> Outcome<Option<TaskMove>> {
    let state = task.state();
    Ok(match (start, state) {
        (Start::Unchanged, _)
        | (Start::Hold, TaskState::Held)
        | (Start::Queue, TaskState::Queued | TaskState::Running) => None,
        (Start::Hold, TaskState::Running) => return Err(at_work(task)),
        (Start::Hold, _) => Some(TaskMove::Hold),
        (Start::Queue, TaskState::Held) => Some(TaskMove::Release),
        (Start::Queue, TaskState::Failed | TaskState::Cancelled | TaskState::Waiting) => {
            Some(TaskMove::Retry)
        }
        (Start::Queue, TaskState::Done) => return Err(done(task)),
    })
}

/// Says what to do where the store would only refuse.
fn check(task: &Task, edit: &TaskEdit, event: Option<TaskMove>) -> Outcome<()> {
    let says_who = edit.agent.is_some() || edit.model.is_some();
    match (task.state(), event) {
        (TaskState::Running, _) if says_who => Err(at_work(task)),
        (TaskState::Done, _) => Err(done(task)),
        (TaskState::Cancelled, None) => Err(Problem::new(
            Code::IllegalTransition,
            format!("task {} is cancelled: it changes only when it is queued again", task.id),
        )
        .hint("assign it with `start: queue`, or `fleet task retry` it first")),
        _ => Ok(()),
    }
}

fn at_work(task: &Task) -> Problem {
    let id = task.id;
    Problem::new(Code::IllegalTransition, format!("task {id} is running: its agent is at work"))
        .hint(format!("`fleet prompt {id} \"…\"` says more to it"))
        .hint(format!("`fleet task cancel {id}` stops it; then assign it again"))
}

fn done(task: &Task) -> Problem {
    let id = task.id;
    Problem::new(Code::IllegalTransition, format!("task {id} is done"))
        .hint(format!("`fleet prompt {id} \"…\"` has it go on; a new task does something else"))
}
