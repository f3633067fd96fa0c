use fleet_api::verbs::task_export::{Answer, Request};
use fleet_core::task::{Task, TaskSpec, TaskState};
use serde::Serialize;

use super::prelude::*;

/// A task in an import or export file: one line of JSON.
#[derive(Debug, Clone, Serialize)]
pub(super) struct TaskLine {
    /// The id of an exported task, kept when it is imported elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<TaskId>,
    /// A name that other lines of the file can use in `after`, for files made by hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) key: Option<String>,
    /// Queued when left out.
    pub(super) state: TaskState,
    /// Ids or keys of tasks that come first.
    pub(super) after: Vec<String>,
    pub(super) not_before: Option<Moment>,
    #[serde(flatten)]
    pub(super) spec: TaskSpec,
}

/// The default number of tasks per page.
const DEFAULT_LIMIT: u32 = 1_000;

/// Reads a page of the tasks of the directory's project, oldest first.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let Some(project) = engine.known_project().await? else {
        return Ok(Answer { lines: Vec::new(), next: None });
    };
    let limit = request.limit.unwrap_or(DEFAULT_LIMIT).into();
    let page = ops::ExportTasks { project: Some(project.id), after: request.after, limit };
    let tasks = engine.call(page).await?;
    let next = tasks.last().map(|(task, _)| task.id);
    let lines = tasks.into_iter().map(|(task, after)| serde_json::to_string(&line(task, &after)));
    let unwritable = |error: serde_json::Error| Problem::new(Code::Internal, error.to_string());
    Ok(Answer { lines: lines.collect::<Result<_, _>>().map_err(unwritable)?, next })
}

fn line(task: Task, after: &[TaskId]) -> TaskLine {
    TaskLine {
        id: Some(task.id),
        key: None,
        state: task.state(),
        after: after.iter().map(ToString::to_string).collect(),
        not_before: task.spec.not_before.map(Moment),
        spec: task.spec,
    }
}
