//! Reading single workflows.

use std::collections::BTreeMap;

use fleet_core::id::WorkflowId;
use fleet_core::outcome::RunResult;
use fleet_core::project::Project;
use fleet_core::run::Run;
use fleet_core::task::Task;
use fleet_core::workflow::{Part, Spec, Workflow};

use super::results::results_of;
use super::row::{self, PartRow, WorkflowTextKind, part, parts_of, stored_place, text_of, workflow_columns};
use crate::ops::prelude::*;
use crate::ops::projects::{self, project_columns};
use crate::ops::rows::{self, Described, task_columns};
use crate::ops::runs::row::{run, run_columns};

#[derive(Debug, Clone, Copy)]
pub struct GetWorkflow {
    pub id: WorkflowId,
    pub with_results: bool,
}

#[derive(Debug, Clone)]
pub struct StoredWorkflow {
    pub workflow: Workflow,
    pub project: Project,
    pub spec: Spec,
    pub source: Option<String>,
    /// Its parts, in the order of their places; among them those that were replaced.
    pub parts: Vec<PartDetail>,
}

#[derive(Debug, Clone)]
pub struct PartDetail {
    /// Index of the part.
    pub at: usize,
    pub part: Part,
    pub name: String,
    /// Why it ended badly.
    pub detail: Option<String>,
    pub task: Option<Task>,
    pub run: Option<Run>,
    /// What its run left, if that was asked for: that of the newest run which succeeded, else of the newest.
    pub result: Option<RunResult>,
    pub started_at: Option<Millis>,
    pub ended_at: Option<Millis>,
}

const ONE: &str = concat!(
    "SELECT ",
    workflow_columns!(),
    ", ",
    project_columns!("''"),
    " FROM workflows w JOIN projects p ON p.id = w.project WHERE w.id = $1"
);

const TASKS: &str = concat!(
    "SELECT ",
    task_columns!(),
    " FROM parts p JOIN tasks t ON t.id = p.task WHERE p.workflow = $1 AND p.task IS NOT NULL"
);

/// A task counts its claims, and the count is the attempt number of its newest run.
const RUNS: &str = concat!(
    "SELECT ",
    run_columns!(),
    " FROM parts p JOIN tasks t ON t.id = p.task JOIN runs r ON r.task = t.id AND r.fence = t.fence \
     WHERE p.workflow = $1 AND p.task IS NOT NULL"
);

#[async_trait]
impl Op for GetWorkflow {
    type Out = StoredWorkflow;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<StoredWorkflow, StoreError> {
        let statements = vec![
            sql!(ONE, self.id),
            text_of(self.id, WorkflowTextKind::Spec),
            text_of(self.id, WorkflowTextKind::Source),
            parts_of(self.id),
            sql!(TASKS, self.id),
            sql!(RUNS, self.id),
        ];
        let mut answers = tx.query_all(statements).await?.into_iter();
        let mut next = || answers.next().unwrap_or_default();
        let gone = || StoreError::WorkflowNotFound(self.id.to_string());
        let mut found = next().into_iter().next().ok_or_else(gone)?;
        let (workflow, project) = (row::workflow(&mut found)?, projects::project(found)?);
        let spec = next().into_iter().next().ok_or_else(gone)?.json()?;
        let source = next().into_iter().next().map(|mut row| row.text()).transpose()?;
        let parts = next().into_iter().map(|mut row| part(&mut row)).collect::<Result<Vec<_>, _>>()?;
        let surroundings = PartTasks::read(next(), next())?;
        let parts = self.detailed(tx, parts, surroundings).await?;
        Ok(StoredWorkflow { workflow, project, spec, source, parts })
    }
}

/// The tasks of parts and their newest runs, by the task.
struct PartTasks {
    tasks: BTreeMap<TaskId, Task>,
    runs: BTreeMap<TaskId, Run>,
}

impl PartTasks {
    fn read(tasks: Vec<Row>, runs: Vec<Row>) -> Result<Self, StoreError> {
        let task = |row| rows::task(row, Described::LeftOut).map(|task| (task.id, task));
        let of_task = |mut row: Row| run(&mut row).map(|run| (run.task, run));
        Ok(Self {
            tasks: tasks.into_iter().map(task).collect::<Result<_, _>>()?,
            runs: runs.into_iter().map(of_task).collect::<Result<_, _>>()?,
        })
    }
}

impl GetWorkflow {
    async fn detailed(
        &self,
        tx: &mut dyn Tx,
        parts: Vec<PartRow>,
        mut around: PartTasks,
    ) -> Result<Vec<PartDetail>, StoreError> {
        let tasks: Vec<TaskId> = parts.iter().filter_map(|row| row.task).collect();
        let mut left = if self.with_results { results_of(tx, &tasks).await? } else { BTreeMap::default() };
        let detail = |(at, row): (usize, PartRow)| PartDetail {
            at,
            part: row.part,
            name: row.name,
            detail: row.detail,
            task: row.task.and_then(|task| around.tasks.remove(&task)),
            run: row.task.and_then(|task| around.runs.remove(&task)),
            result: row.task.and_then(|task| left.remove(&task)?.result),
            started_at: row.started_at,
            ended_at: row.ended_at,
        };
        Ok(parts.into_iter().enumerate().map(detail).collect())
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedPart {
    pub workflow: WorkflowId,
    pub workflow_name: String,
    pub name: String,
}

/// The names of the part that a task is, if it is one.
pub(in crate::ops) async fn named_part(
    tx: &mut dyn Tx,
    task: &Task,
) -> Result<Option<NamedPart>, StoreError> {
    let Some(of) = task.part else { return Ok(None) };
    let find = sql!(
        "SELECT w.name, p.name FROM workflows w JOIN parts p ON p.workflow = w.id WHERE w.id = $1 AND p.part = $2",
        of.workflow,
        stored_place(of.part),
    );
    let row = tx.query_one(find).await?;
    let named =
        |mut row: Row| Ok(NamedPart { workflow: of.workflow, workflow_name: row.text()?, name: row.text()? });
    row.map(named).transpose()
}
