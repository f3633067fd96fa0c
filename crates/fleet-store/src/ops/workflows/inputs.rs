//! What a keeper has to know to prepare the run of a stage.

use async_trait::async_trait;
use fleet_core::id::TaskId;
use fleet_core::outcome::RunResult;
use fleet_core::run::Run;
use fleet_core::workflow::{Part, Spec, Workflow};
use serde::{Deserialize, Serialize};

use super::results::results_of;
use super::row::{self, PartRow, TextKind, part, parts_of, text_of, workflow_columns};
use crate::StoreError;
use crate::ops::rows::read_task;
use crate::tx::{Mode, Op, Tx, sql};

/// Reads what surrounds the stage that a task is.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct StageInputs {
    /// The task.
    pub task: TaskId,
}

/// A stage, and what those before it left.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StageSurroundings {
    /// The workflow.
    pub workflow: Workflow,
    /// What it says.
    pub spec: Spec,
    /// The part of it that the task is.
    pub part: Part,
    /// What that is called.
    pub name: String,
    /// The parts of all stages that had to be over first, directly or not, in the order of stages and copies.
    pub upstream: Vec<Upstream>,
}

/// A part that had to be over before.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Upstream {
    /// The part.
    pub part: Part,
    /// What it is called.
    pub name: String,
    /// A sentence about a bad end.
    pub detail: Option<String>,
    /// The newest run of that which succeeded, else the newest: branch, base and workspace.
    pub run: Option<Run>,
    /// What that run left. Left out where results are so many and large that they would not fit in memory.
    pub result: Option<RunResult>,
}

#[async_trait]
impl Op for StageInputs {
    /// Nothing, if the task is no stage.
    type Out = Option<StageSurroundings>;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Option<StageSurroundings>, StoreError> {
        let Some(stage) = read_task(tx, self.task).await?.stage else { return Ok(None) };
        let find = concat!("SELECT ", workflow_columns!(), " FROM workflows w WHERE w.id = $1");
        let id = stage.workflow;
        let statements = vec![sql!(find, id), text_of(id, TextKind::Spec), parts_of(id)];
        let mut answers = tx.query_all(statements).await?.into_iter();
        let mut next = || answers.next().unwrap_or_default();
        let gone = || StoreError::WorkflowNotFound(id.to_string());
        let workflow = row::workflow(&mut next().into_iter().next().ok_or_else(gone)?)?;
        let spec: Spec = next().into_iter().next().ok_or_else(gone)?.json()?;
        let parts = next().into_iter().map(|mut row| part(&mut row)).collect::<Result<Vec<_>, _>>()?;
        let own = parts.get(stage.part).cloned().ok_or_else(gone)?;
        let upstream = upstream(tx, &spec, (&own.part, parts)).await?;
        let PartRow { part, name, .. } = own;
        Ok(Some(StageSurroundings { workflow, spec, part, name, upstream }))
    }
}

async fn upstream(
    tx: &mut dyn Tx,
    spec: &Spec,
    (own, parts): (&Part, Vec<PartRow>),
) -> Result<Vec<Upstream>, StoreError> {
    let stages = spec.upstream(own.stage);
    let mut parts: Vec<PartRow> =
        parts.into_iter().filter(|row| stages.contains(&row.part.stage) && !row.part.replaced).collect();
    parts.sort_by_key(|row| (row.part.stage, row.part.number));
    let tasks: Vec<TaskId> = parts.iter().filter_map(|row| row.task).collect();
    let mut left = results_of(tx, &tasks).await?;
    let upstream = parts.into_iter().map(|row| {
        let left = row.task.and_then(|task| left.remove(&task));
        let (run, result) = left.map(|left| (left.run, left.result)).unzip();
        let PartRow { part, name, detail, .. } = row;
        Upstream { part, name, detail, run, result: result.flatten() }
    });
    Ok(upstream.collect())
}
