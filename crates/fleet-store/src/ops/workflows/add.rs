//! Adding workflows.

use fleet_core::Current;
use fleet_core::id::{ProjectId, WorkflowId};
use fleet_core::task::{BaseRef, FieldError, Priority, Spawn};
use fleet_core::workflow::{Part, PartCounts, Spec, Workflow, check, first_parts};

use super::begin::task_spec;
use super::locked::LockedWorkflow;
use super::row::{WorkflowTextKind, about};
use crate::ops::Author;
use crate::ops::prelude::*;
use crate::ops::rows::{json, record};
use crate::value::Value;

/// Adds a workflow; the stages that need no other become tasks at once.
#[derive(Debug, Clone)]
pub struct AddWorkflow {
    pub id: WorkflowId,
    pub project: ProjectId,
    /// With the defaults of the user who adds it filled in: they are unknown later.
    pub spec: Spec,
    /// The text of its file, to be shown.
    pub source: Option<String>,
    pub base: BaseRef,
    pub priority: Priority,
    pub author: Author,
    pub now: Millis,
}

#[async_trait]
impl Op for AddWorkflow {
    type Out = Workflow;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Workflow, StoreError> {
        if let Some(flaw) = check(&self.spec).into_iter().next() {
            return Err(FieldError { field: "workflow", why: flaw.message }.into());
        }
        let workflow = self.workflow(self.author.spawn(tx, self.spec.stages.len()).await?);
        // What cannot become a task is refused now, and not when another run ends.
        for stage in 0..self.spec.stages.len() {
            task_spec(&workflow, &self.spec, &Part::new(stage, 1, None))?;
        }
        self.insert(tx, &workflow).await?;
        let (name, stages) = (workflow.name.clone(), self.spec.stages.len());
        let fact = Fact::WorkflowStarted { workflow: self.id, name, stages };
        record(tx, self.now, about(&workflow, None), &fact).await?;
        let mut flow = LockedWorkflow::new(workflow, self.spec.clone(), first_parts(&self.spec));
        flow.go(tx, self.now).await?;
        Ok(flow.workflow)
    }
}

impl AddWorkflow {
    fn workflow(&self, spawn: Spawn) -> Workflow {
        Workflow {
            id: self.id,
            project: self.project,
            name: self.spec.name.clone(),
            state: Current::first(),
            priority: self.priority,
            base: self.base.clone(),
            why: None,
            spawn,
            tally: PartCounts::new(),
            version: 0,
            created_at: self.now,
            updated_at: self.now,
            ended_at: None,
        }
    }

    async fn insert(&self, tx: &mut dyn Tx, workflow: &Workflow) -> Result<(), StoreError> {
        let insert = sql!(
            "INSERT INTO workflows (id, project, name, state, priority, base, tally, parent, depth, spawn_depth, version, \
             created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $8, $9, $10, $11, 0, $7, $7)",
            self.id,
            self.project,
            workflow.name.as_str(),
            workflow.state.as_str(),
            workflow.priority.get(),
            workflow.base.as_str(),
            self.now,
            json(&workflow.tally)?,
            workflow.spawn.parent,
            workflow.spawn.depth,
            workflow.spawn.most,
        );
        tx.defer(insert).await?;
        self.keep(tx, WorkflowTextKind::Spec, json(&self.spec)?).await?;
        match &self.source {
            Some(source) => self.keep(tx, WorkflowTextKind::Source, source.replace('\0', "").into()).await,
            None => Ok(()),
        }
    }

    async fn keep(&self, tx: &mut dyn Tx, kind: WorkflowTextKind, text: Value) -> Result<(), StoreError> {
        let insert = sql!(
            "INSERT INTO workflow_texts (workflow, kind, text) VALUES ($1, $2, $3)",
            self.id,
            kind.as_str(),
            text
        );
        tx.defer(insert).await
    }
}
