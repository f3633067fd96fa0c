//! A workflow in the hands of a transaction: read once, moved, written once.

use std::collections::BTreeSet;

use fleet_core::id::WorkflowId;
use fleet_core::workflow::{
    Part, PartMove, Results, Skip, Spec, Workflow, WorkflowMove, WorkflowState, WorkflowStep, advance,
};

use super::begin;
use super::cancel_task::{CancelOutcome, cancel_task};
use super::results::results_of;
use super::row::{
    self, PartRow, WorkflowTextKind, about, part, parts_of, stored_place, text_of, workflow_columns,
};
use crate::ops::prelude::*;
use crate::ops::rows::{json, record};
use crate::ops::runs::texts::shown;

/// A workflow that is locked until the transaction ends.
pub(super) struct LockedWorkflow {
    pub(super) workflow: Workflow,
    pub(super) spec: Spec,
    pub(super) parts: Vec<PartRow>,
    /// Indices of the parts that differ from their rows.
    changed: BTreeSet<usize>,
    /// Parts from this index on have no rows yet.
    stored: usize,
}

/// What the agent of a stage reads when it is stopped because another stage failed.
const OTHER_STAGE_FAILED: &str = "another stage of its workflow failed";
/// The same when a user cancels the workflow and gives no reason.
const NOT_WANTED: &str = "its workflow was cancelled";

impl LockedWorkflow {
    /// A new workflow, with no rows except its own.
    pub(super) fn new(workflow: Workflow, spec: Spec, parts: Vec<Part>) -> Self {
        let mut flow = Self { workflow, spec, parts: Vec::new(), changed: BTreeSet::new(), stored: 0 };
        flow.expand(parts);
        flow
    }

    pub(super) async fn lock(tx: &mut dyn Tx, id: WorkflowId) -> Result<Option<Self>, StoreError> {
        let find = concat!("SELECT ", workflow_columns!(), " FROM workflows w WHERE w.id = $1 {for_update}");
        let statements = vec![sql!(find, id), text_of(id, WorkflowTextKind::Spec), parts_of(id)];
        let mut answers = tx.query_all(statements).await?.into_iter();
        let mut next = || answers.next().unwrap_or_default();
        let (Some(mut row), Some(mut spec)) = (next().into_iter().next(), next().into_iter().next()) else {
            return Ok(None);
        };
        let parts = next().into_iter().map(|mut row| part(&mut row)).collect::<Result<Vec<_>, _>>()?;
        let (workflow, spec, stored) = (row::workflow(&mut row)?, spec.json()?, parts.len());
        Ok(Some(Self { workflow, spec, parts, changed: BTreeSet::new(), stored }))
    }

    /// The same for a workflow that a user named.
    pub(super) async fn lock_named(tx: &mut dyn Tx, id: WorkflowId) -> Result<Self, StoreError> {
        Self::lock(tx, id).await?.ok_or_else(|| StoreError::WorkflowNotFound(id.to_string()))
    }

    /// Does all that can be done now, and writes down how everything stands then.
    pub(super) async fn go(&mut self, tx: &mut dyn Tx, now: Millis) -> Result<(), StoreError> {
        let results = self.results(tx).await?;
        let mut asked = BTreeSet::new();
        loop {
            let parts: Vec<Part> = self.parts.iter().map(|row| row.part.clone()).collect();
            let mut steps = advance(&self.spec, self.workflow.state(), &parts, &results);
            // A run that was asked to stop has to end by itself.
            steps.retain(|step| !matches!(step, WorkflowStep::Stop { part } if asked.contains(part)));
            asked.extend(steps.iter().filter_map(|step| match step {
                WorkflowStep::Stop { part } => Some(*part),
                _ => None,
            }));
            let mut tasks = begin::tasks(tx, self, &steps, now).await?.into_iter();
            let mut is_news = false;
            for step in steps {
                is_news |= self.take(tx, step, (&mut tasks, now)).await?;
            }
            if !is_news {
                break;
            }
        }
        self.save(tx, now).await
    }

    /// Takes one step. Says whether a part came to its end that the steps after it do not know of.
    async fn take(
        &mut self,
        tx: &mut dyn Tx,
        step: WorkflowStep,
        (tasks, now): (&mut impl Iterator<Item = TaskId>, Millis),
    ) -> Result<bool, StoreError> {
        match step {
            WorkflowStep::Expand { parts } => self.expand(parts),
            WorkflowStep::Start { part } => self.start(tx, part, (tasks.next(), now)).await?,
            WorkflowStep::Skip { part, why } => self.skip(tx, part, (why, now)).await?,
            WorkflowStep::Refuse { part, why } => {
                self.end(tx, part, (PartMove::Fail, Some(why), now)).await?;
            }
            WorkflowStep::Cancel { part } => self.end(tx, part, (PartMove::Cancel, None, now)).await?,
            WorkflowStep::Stop { part } => return self.stop(tx, part, now).await,
            WorkflowStep::Finish { event, why } => self.finish(tx, event, (why, now)).await?,
        }
        Ok(false)
    }

    /// Adds parts after all others.
    pub(super) fn expand(&mut self, parts: Vec<Part>) {
        for part in parts {
            self.changed.insert(self.parts.len());
            let name = part.name(&self.spec);
            self.parts.push(PartRow {
                part,
                name,
                detail: None,
                task: None,
                started_at: None,
                ended_at: None,
            });
        }
    }

    pub(super) fn part(&mut self, at: usize) -> Result<&mut PartRow, StoreError> {
        self.changed.insert(at);
        let lost = || StoreError::Malformed(format!("workflow {} has no part {at}", self.workflow.id));
        self.parts.get_mut(at).ok_or_else(lost)
    }

    pub(super) fn move_part(&mut self, at: usize, event: PartMove) -> Result<&mut PartRow, StoreError> {
        let row = self.part(at)?;
        let moved = row.part.state.apply(event);
        moved.map_err(|illegal| StoreError::Malformed(format!("stage {}: {illegal}", row.name)))?;
        Ok(row)
    }

    async fn start(
        &mut self,
        tx: &mut dyn Tx,
        at: usize,
        (task, now): (Option<TaskId>, Millis),
    ) -> Result<(), StoreError> {
        let row = self.move_part(at, PartMove::Start)?;
        (row.task, row.started_at) = (task, Some(now));
        let stage = row.name.clone();
        let fact = Fact::StageStarted { workflow: self.workflow.id, stage };
        record(tx, now, about(&self.workflow, task), &fact).await
    }

    async fn skip(
        &mut self,
        tx: &mut dyn Tx,
        at: usize,
        (why, now): (Skip, Millis),
    ) -> Result<(), StoreError> {
        let row = self.move_part(at, PartMove::Skip)?;
        (row.part.skip, row.ended_at) = (Some(why), Some(now));
        let stage = row.name.clone();
        let fact = Fact::StageSkipped { workflow: self.workflow.id, stage, why };
        record(tx, now, about(&self.workflow, None), &fact).await
    }

    /// Notes where a part stands that was a task, or could not become one.
    pub(super) async fn end(
        &mut self,
        tx: &mut dyn Tx,
        at: usize,
        (event, why, now): (PartMove, Option<String>, Millis),
    ) -> Result<(), StoreError> {
        let why = why.map(|why| shown(&why));
        let row = self.move_part(at, event)?;
        let to = row.part.state.get();
        row.detail.clone_from(&why);
        row.ended_at = Some(now).filter(|_| to.is_over());
        let (stage, task) = (row.name.clone(), row.task);
        let fact = Fact::StageMoved { workflow: self.workflow.id, stage, state: to, why };
        record(tx, now, about(&self.workflow, task), &fact).await
    }

    /// Ends the task of a part: at once, or as soon as its keeper learns of it. Says whether it was at once.
    async fn stop(&mut self, tx: &mut dyn Tx, at: usize, now: Millis) -> Result<bool, StoreError> {
        let Some(task) = self.part(at)?.task else { return Ok(false) };
        let why = self.reason_to_stop();
        if cancel_task(tx, task, (&why, now)).await? != CancelOutcome::Cancelled {
            return Ok(false);
        }
        self.end(tx, at, (PartMove::Cancel, Some(why), now)).await?;
        Ok(true)
    }

    pub(super) fn reason_to_stop(&self) -> String {
        let is_wanted = self.workflow.state == WorkflowState::Running;
        let usual = if is_wanted { OTHER_STAGE_FAILED } else { NOT_WANTED };
        self.workflow.why.as_deref().unwrap_or(usual).to_owned()
    }

    async fn finish(
        &mut self,
        tx: &mut dyn Tx,
        event: WorkflowMove,
        (why, now): (Option<String>, Millis),
    ) -> Result<(), StoreError> {
        self.step(event)?;
        // The reason of a cancellation is known already.
        self.workflow.why = why.map(|why| shown(&why)).or_else(|| self.workflow.why.take());
        self.workflow.ended_at = Some(now);
        let (workflow, state, why) = (self.workflow.id, self.workflow.state(), self.workflow.why.clone());
        record(tx, now, about(&self.workflow, None), &Fact::WorkflowEnded { workflow, state, why }).await
    }

    pub(super) fn step(&mut self, event: WorkflowMove) -> Result<(), StoreError> {
        let workflow = self.workflow.id;
        self.workflow.state.apply(event).map_err(|illegal| StoreError::IllegalWorkflow {
            workflow,
            from: illegal.from,
            event,
        })
    }

    /// The results that decisions depend on.
    async fn results(&self, tx: &mut dyn Tx) -> Result<Results, StoreError> {
        let decides: Vec<bool> = (0..self.spec.stages.len()).map(|stage| self.spec.decides(stage)).collect();
        let asked = self.parts.iter().enumerate().filter(|(_, row)| {
            let looks = decides.get(row.part.stage).copied().unwrap_or(false);
            looks && row.part.state.is_over() && !row.part.replaced
        });
        let asked: Vec<(usize, TaskId)> = asked.filter_map(|(at, row)| Some((at, row.task?))).collect();
        if asked.is_empty() {
            return Ok(Results::new());
        }
        let tasks: Vec<TaskId> = asked.iter().map(|(_, task)| *task).collect();
        let mut found = results_of(tx, &tasks).await?;
        Ok(asked.iter().filter_map(|(at, task)| Some((*at, found.remove(task)?.result?))).collect())
    }

    async fn save(&mut self, tx: &mut dyn Tx, now: Millis) -> Result<(), StoreError> {
        self.workflow.tally = Workflow::tally(self.parts.iter().map(|row| &row.part));
        self.workflow.version += 1;
        self.workflow.updated_at = now;
        let workflow = &self.workflow;
        let update = sql!(
            "UPDATE workflows SET state = $2, why = $3, tally = $4, version = $5, updated_at = $6, ended_at = $7 \
             WHERE id = $1",
            workflow.id,
            workflow.state.as_str(),
            workflow.why.as_deref(),
            json(&workflow.tally)?,
            workflow.version,
            now,
            workflow.ended_at,
        );
        tx.defer(update).await?;
        for at in std::mem::take(&mut self.changed) {
            let Some(row) = self.parts.get(at) else { continue };
            if at >= self.stored {
                self.insert(tx, at, row).await?;
            } else {
                self.update(tx, at, row).await?;
            }
        }
        self.stored = self.parts.len();
        Ok(())
    }

    async fn insert(&self, tx: &mut dyn Tx, at: usize, row: &PartRow) -> Result<(), StoreError> {
        let insert = sql!(
            "INSERT INTO parts (workflow, part, stage, number, name, item, state, skip, replaced, detail, task, \
             started_at, ended_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
            self.workflow.id,
            stored_place(at),
            stored_place(row.part.stage),
            row.part.number,
            row.name.as_str(),
            // PostgreSQL keeps no NUL, and agents write lists of anything.
            row.part.item.as_ref().map(|item| item.replace('\0', "")),
            row.part.state.as_str(),
            row.part.skip.map(Skip::as_str),
            row.part.replaced,
            row.detail.as_deref(),
            row.task,
            row.started_at,
            row.ended_at,
        );
        tx.defer(insert).await
    }

    async fn update(&self, tx: &mut dyn Tx, at: usize, row: &PartRow) -> Result<(), StoreError> {
        let update = sql!(
            "UPDATE parts SET state = $3, skip = $4, replaced = $5, detail = $6, task = $7, started_at = $8, \
             ended_at = $9 WHERE workflow = $1 AND part = $2",
            self.workflow.id,
            stored_place(at),
            row.part.state.as_str(),
            row.part.skip.map(Skip::as_str),
            row.part.replaced,
            row.detail.as_deref(),
            row.task,
            row.started_at,
            row.ended_at,
        );
        tx.defer(update).await
    }
}
