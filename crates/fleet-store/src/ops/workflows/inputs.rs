//! What a keeper has to know to prepare the run of a part.

use fleet_core::outcome::RunResult;
use fleet_core::run::Run;
use fleet_core::workflow::{Part, Spec, Workflow};
use serde::{Deserialize, Serialize};

use super::results::results_of;
use super::row::{self, PartRow, WorkflowTextKind, part, parts_of, text_of, workflow_columns};
use crate::ops::prelude::*;
use crate::ops::rows::read_task;

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct PartInputs {
    pub task: TaskId,
}

/// A part, and what the parts before it left.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PartContext {
    pub workflow: Workflow,
    pub spec: Spec,
    pub part: Part,
    pub name: String,
    /// The parts of all stages that had to be over first, directly or not, in the order of stages and copies.
    pub upstream: Vec<Upstream>,
}

/// A part that had to end before.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Upstream {
    pub part: Part,
    pub name: String,
    /// Why it ended badly.
    pub detail: Option<String>,
    /// The newest run of that which succeeded, else the newest: branch, base and workspace.
    pub run: Option<Run>,
    /// What that run left. Left out if the results would not fit in memory.
    pub result: Option<RunResult>,
}

#[async_trait]
impl Op for PartInputs {
    /// `None` if the task is not part of a workflow.
    type Out = Option<PartContext>;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Option<PartContext>, StoreError> {
        let Some(own) = read_task(tx, self.task).await?.part else { return Ok(None) };
        let find = concat!("SELECT ", workflow_columns!(), " FROM workflows w WHERE w.id = $1");
        let id = own.workflow;
        let statements = vec![sql!(find, id), text_of(id, WorkflowTextKind::Spec), parts_of(id)];
        let mut answers = tx.query_all(statements).await?.into_iter();
        let mut next = || answers.next().unwrap_or_default();
        let gone = || StoreError::WorkflowNotFound(id.to_string());
        let workflow = row::workflow(&mut next().into_iter().next().ok_or_else(gone)?)?;
        let spec: Spec = next().into_iter().next().ok_or_else(gone)?.json()?;
        let parts = next().into_iter().map(|mut row| part(&mut row)).collect::<Result<Vec<_>, _>>()?;
        let own = parts.get(own.part).cloned().ok_or_else(gone)?;
        let upstream = upstream(tx, &spec, (&own.part, parts)).await?;
        let PartRow { part, name, .. } = own;
        Ok(Some(PartContext { workflow, spec, part, name, upstream }))
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
