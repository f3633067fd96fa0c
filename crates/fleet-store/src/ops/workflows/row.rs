//! Workflows and their parts as rows, and how they are locked.

use fleet_core::event::EventSubject;
use fleet_core::id::WorkflowId;
use fleet_core::task::Priority;
use fleet_core::workflow::{Part, Workflow};

use crate::ops::prelude::*;
use crate::ops::rows::spawn;

/// The columns that [`workflow`] reads, in its order.
macro_rules! workflow_columns {
    () => {
        "w.id, w.project, w.name, w.state, w.priority, w.base, w.why, w.parent, w.depth, w.spawn_depth, w.tally, \
         w.version, w.created_at, w.updated_at, w.ended_at"
    };
}
pub(super) use workflow_columns;

/// The columns that [`part`] reads, in its order.
macro_rules! part_columns {
    () => {
        "p.stage, p.number, p.name, p.item, p.state, p.skip, p.replaced, p.detail, p.task, p.started_at, p.ended_at"
    };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WorkflowTextKind {
    Spec,
    Source,
}

impl WorkflowTextKind {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Spec => "spec",
            Self::Source => "source",
        }
    }
}

/// Takes the columns of a workflow from a row, and leaves what follows them.
pub(super) fn workflow(row: &mut Row) -> Result<Workflow, StoreError> {
    let malformed = |error: fleet_core::task::FieldError| StoreError::Malformed(error.to_string());
    Ok(Workflow {
        id: row.parse()?,
        project: row.parse()?,
        name: row.text()?,
        state: row.state()?,
        priority: Priority::try_from(row.int()?).map_err(malformed)?,
        base: row.parse()?,
        why: row.optional_text()?,
        spawn: spawn(row)?,
        tally: row.json()?,
        version: row.int()?,
        created_at: Millis(row.int()?),
        updated_at: Millis(row.int()?),
        ended_at: row.optional_int()?.map(Millis),
    })
}

/// A part with what the pure course of the workflow does not look at.
#[derive(Debug, Clone)]
pub(super) struct PartRow {
    pub(super) part: Part,
    pub(super) name: String,
    pub(super) detail: Option<String>,
    pub(super) task: Option<TaskId>,
    pub(super) started_at: Option<Millis>,
    pub(super) ended_at: Option<Millis>,
}

pub(super) fn part(row: &mut Row) -> Result<PartRow, StoreError> {
    let (stage, number, name) = (place(row)?, row.int()?, row.text()?);
    let part = Part {
        stage,
        number: u32::try_from(number).unwrap_or(u32::MAX),
        item: row.optional_text()?,
        state: row.state()?,
        skip: row.optional_parse()?,
        replaced: row.int()? != 0,
    };
    Ok(PartRow {
        part,
        name,
        detail: row.optional_text()?,
        task: row.optional_parse()?,
        started_at: row.optional_int()?.map(Millis),
        ended_at: row.optional_int()?.map(Millis),
    })
}

/// The next column, an index.
pub(super) fn place(row: &mut Row) -> Result<usize, StoreError> {
    let number = row.int()?;
    usize::try_from(number).map_err(|_| StoreError::Malformed(format!("{number} is not a place in a list")))
}

/// A place as the rows have it. None comes near the end of the numbers.
pub(in crate::ops) fn stored_place(place: usize) -> i64 {
    i64::try_from(place).unwrap_or(i64::MAX)
}

pub(super) fn parts_of(workflow: WorkflowId) -> Statement {
    sql!(concat!("SELECT ", part_columns!(), " FROM parts p WHERE p.workflow = $1 ORDER BY p.part"), workflow)
}

pub(super) fn text_of(workflow: WorkflowId, kind: WorkflowTextKind) -> Statement {
    sql!("SELECT text FROM workflow_texts WHERE workflow = $1 AND kind = $2", workflow, kind.as_str())
}

/// What the events of a workflow are about; of a part, its task as well.
pub(super) const fn about(workflow: &Workflow, task: Option<TaskId>) -> EventSubject {
    EventSubject { project: Some(workflow.project), task, run: None }
}

/// Waits until no other transaction changes the workflow, and locks it until this one ends.
pub(in crate::ops) async fn lock(tx: &mut dyn Tx, workflow: WorkflowId) -> Result<(), StoreError> {
    tx.query(sql!("SELECT id FROM workflows WHERE id = $1 {for_update}", workflow)).await.map(drop)
}

/// The same for the workflow of a task; does nothing if it has none. A task never changes its workflow.
pub(in crate::ops) fn lock_of(task: TaskId) -> Statement {
    sql!(
        "SELECT w.id FROM workflows w WHERE w.id = (SELECT t.workflow FROM tasks t WHERE t.id = $1) {for_update}",
        task
    )
}
