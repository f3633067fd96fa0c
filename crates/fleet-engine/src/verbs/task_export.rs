//! Writes tasks as JSON lines that `task_import` reads.

use fleet_core::id::TaskId;
use fleet_core::problem::Outcome;
use fleet_core::task::{Task, TaskSpec, TaskState};
use fleet_store::ops;
use serde::Serialize;

use crate::Engine;
use crate::views::Moment;

/// A task in an import or export file: one line of JSON.
#[derive(Debug, Clone, Serialize)]
pub struct Line {
    /// The id of an exported task, kept when it is imported elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<TaskId>,
    /// A name that other lines of the file can use in `after`, for files made by hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Where it stands; queued when left out.
    pub state: TaskState,
    /// Ids or keys of tasks that come first.
    pub after: Vec<String>,
    /// Not started earlier than this.
    pub not_before: Option<Moment>,
    /// What its author decided.
    #[serde(flatten)]
    pub spec: TaskSpec,
}

/// Reads the tasks of the directory's project page by page, oldest first, whatever their number.
pub struct Export<'a> {
    engine: &'a Engine,
    project: Option<fleet_core::id::ProjectId>,
    after: Option<TaskId>,
    done: bool,
}

const PAGE: i64 = 1_000;

impl<'a> Export<'a> {
    /// Begins with the oldest task.
    pub async fn start(engine: &'a Engine) -> Outcome<Self> {
        let known = engine.known_project().await?;
        let done = known.is_none();
        Ok(Self { engine, project: known.map(|project| project.id), after: None, done })
    }

    /// The next lines; empty when all were read.
    pub async fn next(&mut self) -> Outcome<Vec<Line>> {
        if self.done {
            return Ok(Vec::new());
        }
        let page = ops::ExportTasks { project: self.project, after: self.after, limit: PAGE };
        let tasks = self.engine.call(page).await?;
        self.after = tasks.last().map(|(task, _)| task.id);
        self.done = tasks.is_empty();
        Ok(tasks.into_iter().map(|(task, after)| line(task, &after)).collect())
    }
}

fn line(task: Task, after: &[TaskId]) -> Line {
    Line {
        id: Some(task.id),
        key: None,
        state: task.state(),
        after: after.iter().map(ToString::to_string).collect(),
        not_before: task.spec.not_before.map(Moment),
        spec: task.spec,
    }
}
