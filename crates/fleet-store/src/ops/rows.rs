//! How tasks, runs and events lie in their rows.

use fleet_core::event::{Event, Fact, Subject};
use fleet_core::id::TaskId;
use fleet_core::run::Reason;
use fleet_core::task::{
    AgentName, BaseRef, BranchName, Complexity, Description, FieldError, ModelName, Spawn, Task, TaskHistory,
    TaskMove, TaskParts, TaskSpec,
};
use fleet_core::time::Millis;
use fleet_core::workflow::StageOf;

use super::workflows;
use crate::StoreError;
use crate::tx::{Tx, sql};
use crate::value::{Row, Value};

/// The columns that [`task`] reads, in its order. The description is joined in where it is wanted.
macro_rules! task_columns {
    () => {
        "t.id, t.project, t.state, t.priority, t.agent, t.open_deps, t.not_before, t.retry_at, t.version, t.fence, t.failures, \
         t.reason, t.remark, t.title, t.labels, t.scope, t.complexity, t.model, t.base, t.branch, t.limits, t.retry, \
         t.meta, t.batch, t.read_only, t.created_at, t.updated_at, t.waits, t.asked_agent, \
         t.parent, t.depth, t.spawn_depth, \
         t.may_be_empty, t.workflow, t.part"
    };
}
pub(super) use task_columns;

/// One whole task with its description.
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

/// Reads a task that is about to change.
pub(super) async fn lock_task(tx: &mut dyn Tx, id: TaskId) -> Result<Task, StoreError> {
    one_task(tx.query_one(sql!(ONE_TASK_LOCKED, id)).await?, id)
}

/// Reads a task whose state is about to change. The workflow that it is a part of comes before it, as everywhere: whoever
/// moves a stage may go on to others of the same workflow, and two who did so from both ends would wait for each other.
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
    /// It is.
    Joined,
    /// It was not asked for.
    LeftOut,
}

pub(super) fn task(mut row: Row, described: Described) -> Result<Task, StoreError> {
    let row = &mut row;
    let (id, project, state) = (row.parse()?, row.parse()?, row.parse()?);
    let priority =
        fleet_core::task::Priority::try_from(row.int()?).map_err(|error| stored_wrongly(&error))?;
    let agent = agent_name(row.text()?)?;
    let open_deps = row.int()?;
    let (not_before, retry_at) = (row.optional_int()?.map(Millis), row.optional_int()?.map(Millis));
    let version = row.int()?;
    let mut history = TaskHistory {
        fence: row.int()?,
        failures: u32::try_from(row.int()?).unwrap_or(u32::MAX),
        reason: row.optional_parse()?,
        remark: row.optional_text()?,
        retry_at,
        ..TaskHistory::default()
    };
    let mut spec = TaskSpec::new(row.text()?.try_into().map_err(|error| stored_wrongly(&error))?);
    spec.priority = priority;
    spec.not_before = not_before;
    spec.labels = row.json()?;
    spec.scope = row.json()?;
    spec.complexity = row.optional_parse()?;
    spec.model = row.optional_parse()?;
    spec.base = row.optional_parse()?;
    spec.branch = row.optional_parse()?;
    spec.limits = row.json()?;
    spec.retry = row.json()?;
    spec.meta = row.json()?;
    spec.batch = row.optional_parse()?;
    spec.read_only = row.int()? != 0;
    let (created_at, updated_at) = (Millis(row.int()?), Millis(row.int()?));
    history.waits = u32::try_from(row.int()?).unwrap_or(u32::MAX);
    (spec.agent, history.handed_to) = match row.optional_text()? {
        Some(asked) => (agent_name(asked)?, agent),
        None => (agent, None),
    };
    let spawn = spawn(row)?;
    spec.may_be_empty = row.int()? != 0;
    let part_of = stage_of(row)?;
    if described == Described::Joined {
        spec.description = Description::try_from(row.optional_text()?.unwrap_or_default())
            .map_err(|error| stored_wrongly(&error))?;
    }
    Ok(TaskParts {
        id,
        project,
        spec,
        history,
        spawn,
        stage: part_of,
        open_deps,
        version,
        created_at,
        updated_at,
        state,
    }
    .into())
}

/// Where a task or a workflow comes from: the next three columns.
pub(super) fn spawn(row: &mut Row) -> Result<Spawn, StoreError> {
    let parent = row.optional_parse()?;
    let mut bound = || row.int().map(|number| u32::try_from(number).unwrap_or(u32::MAX));
    Ok(Spawn { parent, depth: bound()?, most: bound()? })
}

/// The part of a workflow that the next two columns name.
fn stage_of(row: &mut Row) -> Result<Option<StageOf>, StoreError> {
    let (workflow, part) = (row.optional_parse()?, row.optional_int()?);
    let Some((workflow, part)) = workflow.zip(part) else { return Ok(None) };
    let part =
        usize::try_from(part).map_err(|_| StoreError::Malformed(format!("{part} is no place in a list")))?;
    Ok(Some(StageOf { workflow, part }))
}

/// The name in a column; none is stored as an empty text.
fn agent_name(stored: String) -> Result<Option<AgentName>, StoreError> {
    let name = Some(stored).filter(|name| !name.is_empty()).map(AgentName::try_from);
    name.transpose().map_err(|error| stored_wrongly(&error))
}

/// A value that could never have been written: not the mistake of whoever reads it.
fn stored_wrongly(error: &FieldError) -> StoreError {
    StoreError::Malformed(error.to_string())
}

pub(super) fn json(value: &impl serde::Serialize) -> Result<Value, StoreError> {
    serde_json::to_string(value).map(Value::Text).map_err(|error| StoreError::Malformed(error.to_string()))
}

/// The author's fields, in the order of the columns from `title` to `read_only`.
pub(super) fn spec_values(spec: &TaskSpec) -> Result<Vec<Value>, StoreError> {
    Ok(vec![
        spec.title.as_str().into(),
        json(&spec.labels)?,
        json(&spec.scope)?,
        spec.complexity.map(Complexity::as_str).into(),
        spec.model.as_ref().map(ModelName::as_str).into(),
        spec.base.as_ref().map(BaseRef::as_str).into(),
        spec.branch.as_ref().map(BranchName::as_str).into(),
        json(&spec.limits)?,
        json(&spec.retry)?,
        json(&spec.meta)?,
        spec.batch.into(),
        spec.read_only.into(),
    ])
}

/// The columns `agent` and `asked_agent`: who makes the next attempt, and whom the author wanted if that is another.
/// The configured default is stored as such, so that a change of it reaches old tasks.
pub(super) fn agent_values(task: &Task) -> [Value; 2] {
    let name = |agent: Option<&AgentName>| agent.map_or("", |agent| agent.as_str()).to_owned();
    let asked = task.history.handed_to.as_ref().map(|_| name(task.spec.agent.as_ref()));
    [name(task.agent()).into(), asked.into()]
}

/// Writes who makes the next attempt.
pub(super) async fn write_agent(tx: &mut dyn Tx, task: &Task) -> Result<(), StoreError> {
    let [agent, asked] = agent_values(task);
    tx.defer(sql!("UPDATE tasks SET agent = $2, asked_agent = $3 WHERE id = $1", task.id, agent, asked)).await
}

/// Writes the description and the labels, which lie in tables of their own.
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

/// Moves a task in the pure machine, or says that it cannot.
pub(super) fn step(task: &mut Task, event: TaskMove) -> Result<(), StoreError> {
    let id = task.id;
    task.apply(event).map_err(|illegal| StoreError::Illegal {
        task: id,
        from: illegal.from,
        event: illegal.event,
    })
}

/// Writes where a task stands now and what happened to it. If it is a stage, its workflow goes on in the same
/// transaction; the caller has read the task with [`lock_task_to_move`], or is a claim, which is no news for a workflow.
pub(super) async fn write_move(
    tx: &mut dyn Tx,
    task: &Task,
    now: Millis,
    (subject, fact): (Subject, &Fact),
) -> Result<(), StoreError> {
    write_move_alone(tx, task, now, (subject, fact)).await?;
    workflows::follow(tx, task, now).await
}

/// The same without the workflow. Only for the workflow itself, which knows already.
pub(super) async fn write_move_alone(
    tx: &mut dyn Tx,
    task: &Task,
    now: Millis,
    (subject, fact): (Subject, &Fact),
) -> Result<(), StoreError> {
    write_state(tx, task, now).await?;
    record(tx, now, subject, fact).await
}

/// Writes where a task stands now: state, history and when it may start. Nobody else can have changed it since it
/// was read, because reading it for a change locked it.
async fn write_state(tx: &mut dyn Tx, task: &Task, now: Millis) -> Result<(), StoreError> {
    let deferred = task.due().is_some_and(|at| at > now);
    let statement = sql!(
        "UPDATE tasks SET state = $2, fence = $3, failures = $4, reason = $5, remark = $6, retry_at = $7, \
         due = $8, deferred = $9, waits = $10, version = version + 1, updated_at = $11 WHERE id = $1",
        task.id,
        task.state().as_str(),
        task.history.fence,
        task.history.failures,
        task.history.reason.map(Reason::as_str),
        task.history.remark.as_deref(),
        task.history.retry_at,
        task.due(),
        deferred,
        task.history.waits,
        now,
    );
    tx.defer(statement).await
}

/// Appends a fact; it becomes visible, gets its number and wakes those who wait with the transaction.
pub(super) async fn record(
    tx: &mut dyn Tx,
    now: Millis,
    subject: Subject,
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

pub(super) fn about(task: &Task) -> Subject {
    Subject { project: Some(task.project), task: Some(task.id), run: None }
}

pub(super) fn event(mut row: Row) -> Result<Event, StoreError> {
    let row = &mut row;
    let (seq, at) = (row.int()?, Millis(row.int()?));
    let subject =
        Subject { project: row.optional_parse()?, task: row.optional_parse()?, run: row.optional_parse()? };
    let (kind, data) = (row.text()?, row.text()?);
    let fact = Fact::from_parts(&kind, &data).map_err(|error| StoreError::Malformed(error.to_string()))?;
    Ok(Event { seq, at, subject, fact })
}
