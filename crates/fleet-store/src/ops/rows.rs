//! Tasks, runs and events as rows.

use fleet_core::event::{Event, EventSubject};
use fleet_core::run::Reason;
use fleet_core::task::{
    AgentName, BranchName, Description, FieldError, Spawn, Task, TaskHistory, TaskMove, TaskSpec,
};
use fleet_core::workflow::PartOf;

use super::workflows;
use crate::ops::prelude::*;
use crate::value::Value;

/// The columns that [`task`] reads, in its order. The description is joined in where it is wanted.
macro_rules! task_columns {
    () => {
        "t.id, t.project, t.state, t.spec, t.not_before, t.agent, t.asked_agent, t.open_deps, t.version, t.fence, \
         t.failures, t.reason, t.remark, t.retry_at, t.waits, t.check_failures, t.context_restarts, t.created_at, t.updated_at, t.parent, t.depth, \
         t.spawn_depth, t.workflow, t.part"
    };
}
pub(super) use task_columns;

const ONE_TASK: &str = concat!(
    "SELECT ",
    task_columns!(),
    ", d.text FROM tasks t LEFT JOIN task_descriptions d ON d.task = t.id WHERE t.id = $1"
);

/// The same, locked until the transaction ends.
const ONE_TASK_LOCKED: &str = concat!(
    "SELECT ",
    task_columns!(),
    ", (SELECT d.text FROM task_descriptions d WHERE d.task = t.id) FROM tasks t WHERE t.id = $1 {for_update}"
);

pub(super) async fn read_task(tx: &mut dyn Tx, id: TaskId) -> Result<Task, StoreError> {
    one_task(tx.query_one(sql!(ONE_TASK, id)).await?, id)
}

pub(super) async fn lock_task(tx: &mut dyn Tx, id: TaskId) -> Result<Task, StoreError> {
    one_task(tx.query_one(sql!(ONE_TASK_LOCKED, id)).await?, id)
}

/// Reads a task whose state is about to change. Its workflow is locked before it, as everywhere: moving a stage may
/// move others of the same workflow, and two transactions that did so from both ends would deadlock.
pub(super) async fn lock_task_to_move(tx: &mut dyn Tx, id: TaskId) -> Result<Task, StoreError> {
    let answers = tx.query_all(vec![workflows::lock_of(id), sql!(ONE_TASK_LOCKED, id)]).await?;
    one_task(answers.into_iter().next_back().into_iter().flatten().next(), id)
}

fn one_task(row: Option<Row>, id: TaskId) -> Result<Task, StoreError> {
    row.map_or_else(|| Err(StoreError::TaskNotFound(id.to_string())), |row| task(row, Described::Joined))
}

/// Whether the description is the last column of the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Described {
    Joined,
    LeftOut,
}

pub(super) fn task(mut row: Row, described: Described) -> Result<Task, StoreError> {
    let row = &mut row;
    let (id, project, state) = (row.parse()?, row.parse()?, row.state()?);
    let mut spec: TaskSpec = row.json()?;
    spec.not_before = row.optional_int()?.map(Millis);
    let (agent, asked) = (row.text()?, row.optional_text()?);
    let mut task = Task {
        open_deps: row.int()?,
        version: row.int()?,
        history: TaskHistory {
            attempts: row.int()?,
            failures: small(row.int()?),
            reason: row.optional_parse()?,
            remark: row.optional_text()?,
            retry_at: row.optional_int()?.map(Millis),
            waits: small(row.int()?),
            check_failures: small(row.int()?),
            context_restarts: small(row.int()?),
            handed_to: if asked.is_some() { agent_name(agent)? } else { None },
        },
        created_at: Millis(row.int()?),
        updated_at: Millis(row.int()?),
        spawn: spawn(row)?,
        part: part_of(row)?,
        id,
        project,
        state,
        spec,
    };
    if described == Described::Joined {
        task.spec.description = Description::try_from(row.optional_text()?.unwrap_or_default())
            .map_err(|error| stored_wrongly(&error))?;
    }
    Ok(task)
}

fn small(number: i64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Where a task or a workflow comes from: the next three columns.
pub(super) fn spawn(row: &mut Row) -> Result<Spawn, StoreError> {
    let parent = row.optional_parse()?;
    let mut bound = || row.int().map(small);
    Ok(Spawn { parent, depth: bound()?, most: bound()? })
}

/// The part of a workflow that the next two columns name.
fn part_of(row: &mut Row) -> Result<Option<PartOf>, StoreError> {
    let (workflow, part) = (row.optional_parse()?, row.optional_int()?);
    let Some((workflow, part)) = workflow.zip(part) else { return Ok(None) };
    let part = usize::try_from(part)
        .map_err(|_| StoreError::Malformed(format!("{part} is not a place in a list")))?;
    Ok(Some(PartOf { workflow, part }))
}

/// The name in a column; none is stored as an empty text.
pub(super) fn agent_name(stored: String) -> Result<Option<AgentName>, StoreError> {
    let name = Some(stored).filter(|name| !name.is_empty()).map(AgentName::try_from);
    name.transpose().map_err(|error| stored_wrongly(&error))
}

/// A value that could never have been written: the reader made no mistake.
fn stored_wrongly(error: &FieldError) -> StoreError {
    StoreError::Malformed(error.to_string())
}

pub(super) fn json(value: &impl serde::Serialize) -> Result<Value, StoreError> {
    serde_json::to_string(value).map(Value::Text).map_err(|error| StoreError::Malformed(error.to_string()))
}

/// What the author decided, and what statements look for of it: `spec`, `title`, `priority`, `agent`, `asked_agent`,
/// `not_before`, `due`, `scope`, `has_scope`, `limits`, `branch`, `batch`, `interactive`.
pub(super) fn spec_values(task: &Task) -> Result<Vec<Value>, StoreError> {
    let spec = &task.spec;
    let [agent, asked] = agent_values(task);
    Ok(vec![
        json(&TaskSpec { description: Description::default(), ..spec.clone() })?,
        spec.title.as_str().into(),
        spec.priority.get().into(),
        agent,
        asked,
        spec.not_before.into(),
        task.due().into(),
        json(&spec.scope)?,
        (!spec.scope.is_empty()).into(),
        json(&spec.limits)?,
        spec.branch.as_ref().map(BranchName::as_str).into(),
        spec.batch.into(),
        spec.mode.is_interactive().into(),
    ])
}

/// The columns `agent` and `asked_agent`: the agent of the next attempt, and the one that the author asked for if that
/// is another. The configured default is stored as such, so that a change of it reaches old tasks.
fn agent_values(task: &Task) -> [Value; 2] {
    let name = |agent: Option<&AgentName>| agent.map_or("", |agent| agent.as_str()).to_owned();
    let asked = task.history.handed_to.as_ref().map(|_| name(task.spec.agent.as_ref()));
    [name(task.agent()).into(), asked.into()]
}

/// Writes which agent makes the next attempt.
pub(super) async fn write_agent(tx: &mut dyn Tx, task: &Task) -> Result<(), StoreError> {
    let [agent, asked] = agent_values(task);
    tx.defer(sql!("UPDATE tasks SET agent = $2, asked_agent = $3 WHERE id = $1", task.id, agent, asked)).await
}

/// Writes the description and the labels, which have their own tables.
pub(super) async fn write_texts(tx: &mut dyn Tx, id: TaskId, spec: &TaskSpec) -> Result<(), StoreError> {
    if !spec.description.as_str().is_empty() {
        let text = spec.description.as_str();
        tx.defer(sql!("INSERT INTO task_descriptions (task, text) VALUES ($1, $2)", id, text)).await?;
    }
    for label in spec.labels.iter() {
        tx.defer(sql!("INSERT INTO task_labels (label, task) VALUES ($1, $2)", label.as_str(), id)).await?;
    }
    Ok(())
}

pub(super) async fn erase_texts(tx: &mut dyn Tx, id: TaskId) -> Result<(), StoreError> {
    tx.defer(sql!("DELETE FROM task_descriptions WHERE task = $1", id)).await?;
    tx.defer(sql!("DELETE FROM task_labels WHERE task = $1", id)).await
}

/// Moves a task if its state machine allows it.
pub(super) fn step(task: &mut Task, event: TaskMove) -> Result<(), StoreError> {
    task.state.apply(event).map_err(|illegal| StoreError::Illegal {
        task: task.id,
        from: illegal.from,
        event: illegal.event,
    })
}

/// Writes the new state of a task and what happened to it. If it is a stage, its workflow continues in the same
/// transaction; the caller has read the task with [`lock_task_to_move`], or is a claim, which changes nothing in a
/// workflow.
pub(super) async fn write_move(
    tx: &mut dyn Tx,
    task: &Task,
    now: Millis,
    (subject, fact): (EventSubject, &Fact),
) -> Result<(), StoreError> {
    write_move_alone(tx, task, now, (subject, fact)).await?;
    workflows::follow(tx, task, now).await
}

/// The same without the workflow. Only for the workflow itself.
pub(super) async fn write_move_alone(
    tx: &mut dyn Tx,
    task: &Task,
    now: Millis,
    (subject, fact): (EventSubject, &Fact),
) -> Result<(), StoreError> {
    write_state(tx, task, now).await?;
    record(tx, now, subject, fact).await
}

/// Writes state, history and start time of a task. No other process can have changed it since it was read, because
/// reading it for a change locked it.
async fn write_state(tx: &mut dyn Tx, task: &Task, now: Millis) -> Result<(), StoreError> {
    let deferred = task.due().is_some_and(|at| at > now);
    let statement = sql!(
        "UPDATE tasks SET state = $2, fence = $3, failures = $4, reason = $5, remark = $6, retry_at = $7, \
         due = $8, deferred = $9, waits = $10, check_failures = $11, context_restarts = $12, \
         version = version + 1, updated_at = $13 \
         WHERE id = $1",
        task.id,
        task.state().as_str(),
        task.history.attempts,
        task.history.failures,
        task.history.reason.map(Reason::as_str),
        task.history.remark.as_deref(),
        task.history.retry_at,
        task.due(),
        deferred,
        task.history.waits,
        task.history.check_failures,
        task.history.context_restarts,
        now,
    );
    tx.defer(statement).await
}

/// Appends a fact; it becomes visible, gets its number and wakes waiters with the transaction.
pub(super) async fn record(
    tx: &mut dyn Tx,
    now: Millis,
    subject: EventSubject,
    fact: &Fact,
) -> Result<(), StoreError> {
    let (kind, data) = fact.parts();
    let statement = sql!(
        "INSERT INTO events (at, project, task, run, kind, data) VALUES ($1, $2, $3, $4, $5, $6)",
        now,
        subject.project,
        subject.task,
        subject.run,
        kind,
        data,
    );
    tx.announce();
    tx.defer(statement).await
}

pub(super) fn about(task: &Task) -> EventSubject {
    EventSubject { project: Some(task.project), task: Some(task.id), run: None }
}

pub(super) fn event(mut row: Row) -> Result<Event, StoreError> {
    let row = &mut row;
    let (seq, at) = (row.int()?, Millis(row.int()?));
    let subject = EventSubject {
        project: row.optional_parse()?,
        task: row.optional_parse()?,
        run: row.optional_parse()?,
    };
    let (kind, data) = (row.text()?, row.text()?);
    let fact = Fact::from_parts(&kind, &data).map_err(|error| StoreError::Malformed(error.to_string()))?;
    Ok(Event { seq, at, subject, fact })
}
