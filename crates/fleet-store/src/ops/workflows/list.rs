//! Lists of workflows, newest first: every one an index scan with a bound.

use std::cmp::Reverse;

use fleet_core::id::{ProjectId, WorkflowId};
use fleet_core::workflow::{Workflow, WorkflowState};

use super::row::{workflow, workflow_columns};
use crate::ops::prelude::*;

#[derive(Debug, Clone)]
pub struct ListWorkflows {
    pub project: Option<ProjectId>,
    /// Only those in these states; empty is all.
    pub states: Vec<WorkflowState>,
    /// Only those that are older than this one: the last of the page before.
    pub before: Option<WorkflowId>,
    pub limit: i64,
}

#[derive(Debug, Clone)]
pub struct WorkflowPage {
    pub workflows: Vec<ListedWorkflow>,
    pub more: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedWorkflow {
    pub workflow: Workflow,
    pub project_name: String,
}

macro_rules! list_query {
    ($condition:literal) => {
        concat!(
            "SELECT ",
            workflow_columns!(),
            ", p.name FROM workflows w JOIN projects p ON p.id = w.project WHERE w.state = $1 AND w.id < $2",
            $condition,
            " ORDER BY w.id DESC LIMIT $3"
        )
    };
}

/// Greater than every id.
const END: &str = "x";

#[async_trait]
impl Op for ListWorkflows {
    type Out = WorkflowPage;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<WorkflowPage, StoreError> {
        let states = if self.states.is_empty() { WorkflowState::ALL } else { &self.states };
        let statements = states.iter().map(|state| self.statement(*state)).collect();
        let rows = tx.query_all(statements).await?.into_iter().flatten();
        let mut workflows = rows.map(listed).collect::<Result<Vec<_>, _>>()?;
        workflows.sort_by_key(|listed| Reverse(listed.workflow.id));
        workflows.dedup_by_key(|listed| listed.workflow.id);
        let limit = usize::try_from(self.limit).unwrap_or(0);
        let more = workflows.len() > limit;
        workflows.truncate(limit);
        Ok(WorkflowPage { workflows, more })
    }
}

impl ListWorkflows {
    /// Those of one state, which have an index, with one to spare.
    fn statement(&self, state: WorkflowState) -> Statement {
        let before = self.before.as_ref().map_or(END, WorkflowId::as_str);
        let limit = self.limit.max(0).saturating_add(1);
        match self.project {
            None => sql!(list_query!(""), state.as_str(), before, limit),
            Some(project) => sql!(list_query!(" AND w.project = $4"), state.as_str(), before, limit, project),
        }
    }
}

fn listed(mut row: Row) -> Result<ListedWorkflow, StoreError> {
    Ok(ListedWorkflow { workflow: workflow(&mut row)?, project_name: row.text()? })
}
