//! Runs as rows, and how they are locked.

use fleet_core::budget::Bounds;
use fleet_core::event::EventSubject;
use fleet_core::run::{AgentStateNow, Run, RunMove, Totals};
use fleet_core::task::{Task, TaskMode};

use crate::ops::prelude::*;
use crate::ops::rows::lock_task;
use crate::ops::workflows;

/// The columns that [`run`] reads, in its order.
macro_rules! run_columns {
    () => {
        "r.id, r.task, r.project, r.fence, r.state, r.reason, r.detail, r.runner, r.place, r.agent, r.model, r.branch, \
         r.base, r.workspace, r.keeper, r.session, r.meter, r.input_tokens, r.output_tokens, r.micro_usd, r.activity, \
         r.percent, r.decoded, r.batches, r.stop, r.lease_until, r.created_at, r.started_at, r.ended_at, r.reserved_micro_usd, \
         r.reserved_tokens, r.account, r.interactive, r.agent_state, r.agent_state_since, r.agent_state_text, \
         r.agent_state_evidence"
    };
}
pub(in crate::ops) use run_columns;

/// Takes the columns of a run from a row, and leaves what follows them.
pub(in crate::ops) fn run(row: &mut Row) -> Result<Run, StoreError> {
    Ok(Run {
        id: row.parse()?,
        task: row.parse()?,
        project: row.parse()?,
        attempt: row.int()?,
        state: row.state()?,
        reason: row.optional_parse()?,
        detail: row.optional_text()?,
        runner: row.text()?,
        place: row.text()?,
        agent: row.text()?,
        model: row.optional_text()?,
        branch: row.optional_text()?,
        base: row.optional_text()?,
        workspace: row.optional_text()?,
        keeper: row.optional_text()?,
        session: row.optional_text()?,
        meter: row.optional_json()?,
        usage: Totals { input_tokens: count(row)?, output_tokens: count(row)?, micro_usd: count(row)? },
        activity: row.optional_text()?,
        percent: row.optional_int()?.map(|percent| u8::try_from(percent).unwrap_or(u8::MAX)),
        decoded: row.int()?,
        batches: row.int()?,
        stop: row.optional_json()?,
        lease_until: Millis(row.int()?),
        created_at: Millis(row.int()?),
        started_at: row.optional_int()?.map(Millis),
        ended_at: row.optional_int()?.map(Millis),
        reserved: Bounds { micro_usd: bound(row)?, tokens: bound(row)? },
        account: row.optional_text()?,
        mode: if row.int()? == 1 { TaskMode::Interactive } else { TaskMode::Headless },
        agent_state: agent_state(row)?,
    })
}

fn agent_state(row: &mut Row) -> Result<Option<AgentStateNow>, StoreError> {
    let (state, since) = (row.optional_parse()?, row.optional_int()?);
    let (text, evidence) = (row.optional_text()?, row.optional_text()?);
    Ok(state.zip(since).map(|(state, since)| AgentStateNow {
        state,
        since: Millis(since),
        text: text.unwrap_or_default(),
        evidence: evidence.unwrap_or_default(),
    }))
}

fn count(row: &mut Row) -> Result<u64, StoreError> {
    row.int().map(|number| u64::try_from(number).unwrap_or(0))
}

fn bound(row: &mut Row) -> Result<Option<u64>, StoreError> {
    Ok(row.optional_int()?.map(|number| u64::try_from(number).unwrap_or(0)))
}

pub(in crate::ops) fn about_run(run: &Run) -> EventSubject {
    EventSubject { project: Some(run.project), task: Some(run.task), run: Some(run.id) }
}

pub(super) async fn lock_run(tx: &mut dyn Tx, id: RunId) -> Result<Run, StoreError> {
    let find = sql!(concat!("SELECT ", run_columns!(), " FROM runs r WHERE r.id = $1 {for_update}"), id);
    let row = tx.query_one(find).await?;
    row.map_or_else(|| Err(StoreError::RunNotFound(id.to_string())), |mut row| run(&mut row))
}

/// The run, locked, if this attempt number still holds it.
pub(in crate::ops) async fn lock_live_run(
    tx: &mut dyn Tx,
    id: RunId,
    attempt: i64,
) -> Result<Run, StoreError> {
    let run = lock_run(tx, id).await?;
    if run.attempt != attempt || !run.state.is_live() {
        return Err(StoreError::LeaseLost { run: id });
    }
    Ok(run)
}

/// The run with its task. Task before run, as everywhere: two who lock both never wait for each other.
pub(super) async fn lock_both(
    tx: &mut dyn Tx,
    task: TaskId,
    run: RunId,
    attempt: i64,
) -> Result<(Task, Run), StoreError> {
    let task = match lock_task(tx, task).await {
        // Only a task without a live run is ever deleted, so the run ended before that.
        Err(StoreError::TaskNotFound(_)) => return Err(StoreError::LeaseLost { run }),
        task => task?,
    };
    Ok((task, lock_live_run(tx, run, attempt).await?))
}

/// The live run of an agent that says something, with its task. Task before run, as everywhere.
pub(in crate::ops) async fn lock_live_run_of_agent(
    tx: &mut dyn Tx,
    id: RunId,
) -> Result<(Task, Run), StoreError> {
    let find = sql!("SELECT task, fence FROM runs WHERE id = $1", id);
    let row = tx.query_one(find).await?;
    let mut row = row.ok_or_else(|| StoreError::RunNotFound(id.to_string()))?;
    let (task, attempt) = (row.parse()?, row.int()?);
    lock_both(tx, task, id, attempt).await
}

/// The same for a run that is about to end. The workflow of its task is locked before both, as everywhere: see
/// [`lock_task_to_move`](crate::ops::rows::lock_task_to_move). A task without a workflow costs no further statement.
pub(super) async fn lock_to_end(
    tx: &mut dyn Tx,
    run: RunId,
    attempt: i64,
) -> Result<(Task, Run), StoreError> {
    let find = sql!(
        "SELECT r.task, t.workflow FROM runs r LEFT JOIN tasks t ON t.id = r.task WHERE r.id = $1",
        run,
    );
    let found = tx.query_one(find).await?;
    let mut found = found.ok_or_else(|| StoreError::RunNotFound(run.to_string()))?;
    let (task, workflow) = (found.parse()?, found.optional_parse()?);
    if let Some(workflow) = workflow {
        workflows::lock(tx, workflow).await?;
    }
    lock_both(tx, task, run, attempt).await
}

pub(in crate::ops) fn step(run: &mut Run, event: RunMove) -> Result<(), StoreError> {
    run.state.apply(event).map_err(|_| illegal(run, event))
}

pub(super) fn illegal(run: &Run, event: RunMove) -> StoreError {
    StoreError::IllegalRun { run: run.id, from: run.state(), event }
}
