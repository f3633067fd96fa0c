//! Adding, reading and editing tasks.

use std::collections::{BTreeMap, BTreeSet};

use fleet_core::Current;
use fleet_core::deps::Edge;
use fleet_core::id::ProjectId;
use fleet_core::run::Run;
use fleet_core::task::{Spawn, Task, TaskEdit, TaskHistory, TaskSpec, TaskState};

use super::author::Author;
use super::branches::{refuse_taken, refuse_taken_by_any};
use super::deps::id_list;
use super::rows::{self, Described, about, lock_task, read_task, record, spec_values, task_columns};
use super::runs::row::{self, run_columns};
use super::workflows::{self, NamedPart, stored_place};
use crate::ops::prelude::*;

#[derive(Debug, Clone)]
pub struct NewTask {
    pub id: TaskId,
    pub project: ProjectId,
    pub spec: TaskSpec,
    /// What it waits for: tasks that exist, or others of the same batch.
    pub after: Vec<TaskId>,
    /// Queued, unless it comes from another store.
    pub state: TaskState,
}

/// Adds tasks, all or none. Cycles within the batch are the caller's business: a new task cannot close one
/// with an old one.
#[derive(Debug, Clone)]
pub struct AddTasks {
    /// In any order.
    pub tasks: Vec<NewTask>,
    pub author: Author,
    pub now: Millis,
}

#[async_trait]
impl Op for AddTasks {
    type Out = Vec<Task>;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Vec<Task>, StoreError> {
        let spawn = self.author.spawn(tx, self.tasks.len()).await?;
        let states = self.dependency_states(tx).await?;
        let attempts = earlier_claims(tx, self.tasks.iter().map(|new| new.id)).await?;
        let mut added = Vec::with_capacity(self.tasks.len());
        for new in &self.tasks {
            let open = new.waits_for().iter().filter(|on| states.get(on) != Some(&TaskState::Done)).count();
            let open_deps = i64::try_from(open).unwrap_or(i64::MAX);
            let attempts = attempts.get(&new.id).copied().unwrap_or(0);
            added.push(Task {
                history: TaskHistory { attempts, ..TaskHistory::default() },
                spawn,
                open_deps,
                state: new.state(),
                ..Task::new(new.id, new.project, new.spec.clone(), self.now)
            });
        }
        refuse_taken_by_any(tx, &added).await?;
        for task in &added {
            tx.defer(insert(task)?).await?;
            rows::write_texts(tx, task.id, &task.spec).await?;
        }
        // After all tasks are there: they may wait for each other.
        for (new, task) in self.tasks.iter().zip(&added) {
            let after = new.waits_for();
            for on in &after {
                tx.defer(sql!("INSERT INTO deps (task, on_task) VALUES ($1, $2)", new.id, *on)).await?;
            }
            let (title, priority) = (new.spec.title.clone(), new.spec.priority);
            record(tx, self.now, about(task), &Fact::TaskAdded { title, priority, after }).await?;
        }
        Ok(added)
    }
}

impl NewTask {
    /// An imported task keeps its state.
    #[expect(clippy::disallowed_methods, reason = "another store has moved it")]
    const fn state(&self) -> Current<TaskState> {
        Current::stored(self.state)
    }

    /// What it waits for, in the author's order: to name a task twice is to name it once.
    fn waits_for(&self) -> Vec<TaskId> {
        let mut seen = BTreeSet::new();
        self.after.iter().copied().filter(|on| seen.insert(*on)).collect()
    }
}

impl AddTasks {
    /// The state of everything that is waited for. Existing tasks are locked against finishing meanwhile: the count of
    /// open dependencies would stay wrong.
    async fn dependency_states(&self, tx: &mut dyn Tx) -> Result<BTreeMap<TaskId, TaskState>, StoreError> {
        let mut states: BTreeMap<TaskId, TaskState> =
            self.tasks.iter().map(|new| (new.id, new.state)).collect();
        let mut wanted: Vec<TaskId> = self.tasks.iter().flat_map(|new| new.after.iter().copied()).collect();
        // In one order everywhere, so that two batches cannot wait for each other.
        wanted.sort_unstable();
        wanted.dedup();
        for on in wanted {
            if states.contains_key(&on) {
                continue;
            }
            let row = tx.query_one(sql!("SELECT state FROM tasks WHERE id = $1 {for_share}", on)).await?;
            let mut row = row.ok_or_else(|| StoreError::TaskNotFound(on.to_string()))?;
            states.insert(on, row.parse()?);
        }
        Ok(states)
    }
}

/// How often tasks of these ids were claimed before they were deleted: an attempt number is never given twice. An id
/// that exists, or occurs twice, is an error with its own code, not a failure of the engine.
pub(super) async fn earlier_claims(
    tx: &mut dyn Tx,
    mut new: impl Iterator<Item = TaskId>,
) -> Result<BTreeMap<TaskId, i64>, StoreError> {
    let mut ids = BTreeSet::new();
    if let Some(twice) = new.find(|id| !ids.insert(*id)) {
        return Err(StoreError::TaskExists(twice));
    }
    let list = id_list(ids.into_iter());
    let statements = vec![
        sql!("SELECT id FROM tasks WHERE id IN {list 1} LIMIT 1", list.clone()),
        sql!("SELECT task, max(fence) FROM runs WHERE task IN {list 1} GROUP BY task", list),
    ];
    let mut answers = tx.query_all(statements).await?.into_iter();
    if let Some(mut row) = answers.next().into_iter().flatten().next() {
        return Err(StoreError::TaskExists(row.parse()?));
    }
    answers.flatten().map(|mut row| Ok((row.parse()?, row.int()?))).collect()
}

pub(super) fn insert(task: &Task) -> Result<Statement, StoreError> {
    let Spawn { parent, depth, most } = task.spawn;
    let (workflow, part) = task.part.map(|of| (of.workflow, stored_place(of.part))).unzip();
    let mut params = spec_values(task)?;
    params.extend([
        task.id.into(),
        task.project.into(),
        task.state().as_str().into(),
        task.open_deps.into(),
        task.due().is_some_and(|at| at > task.created_at).into(),
        task.history.attempts.into(),
        task.created_at.into(),
        parent.into(),
        depth.into(),
        most.into(),
        workflow.into(),
        part.into(),
    ]);
    let sql = "INSERT INTO tasks (spec, title, priority, agent, asked_agent, not_before, due, scope, has_scope, limits, \
               branch, batch, interactive, id, project, state, open_deps, deferred, fence, created_at, updated_at, \
               parent, depth, spawn_depth, workflow, part, version, failures) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, \
               $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $20, $21, $22, $23, $24, $25, 1, 0)";
    Ok(Statement { sql, params })
}

#[derive(Debug, Clone)]
pub struct TaskDetail {
    pub task: Task,
    /// What it waits or waited for.
    pub after: Vec<(TaskId, TaskState)>,
    /// What waits for it.
    pub before: Vec<(TaskId, TaskState)>,
    /// Its runs, oldest first.
    pub runs: Vec<Run>,
    pub part: Option<NamedPart>,
}

#[derive(Debug, Clone, Copy)]
pub struct GetTask {
    pub id: TaskId,
}

#[async_trait]
impl Op for GetTask {
    type Out = TaskDetail;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<TaskDetail, StoreError> {
        let task = read_task(tx, self.id).await?;
        let answers = tx
            .query_all(vec![
                sql!("SELECT t.id, t.state FROM deps d JOIN tasks t ON t.id = d.on_task WHERE d.task = $1 ORDER BY t.id", self.id),
                sql!("SELECT t.id, t.state FROM deps d JOIN tasks t ON t.id = d.task WHERE d.on_task = $1 ORDER BY t.id", self.id),
                sql!(concat!("SELECT ", run_columns!(), " FROM runs r WHERE r.task = $1 ORDER BY r.fence"), self.id),
            ])
            .await?;
        let mut answers = answers.into_iter();
        let mut neighbours = || -> Result<Vec<(TaskId, TaskState)>, StoreError> {
            let rows = answers.next().unwrap_or_default();
            rows.into_iter().map(|mut row| Ok((row.parse()?, row.parse()?))).collect()
        };
        let (after, before) = (neighbours()?, neighbours()?);
        let runs = answers
            .next()
            .unwrap_or_default()
            .into_iter()
            .map(|mut row| row::run(&mut row))
            .collect::<Result<_, _>>()?;
        let part = workflows::named_part(tx, &task).await?;
        Ok(TaskDetail { task, after, before, runs, part })
    }
}

/// Changes the spec of a task.
#[derive(Debug, Clone)]
pub struct EditTask {
    pub id: TaskId,
    pub edit: TaskEdit,
    pub now: Millis,
}

#[async_trait]
impl Op for EditTask {
    type Out = (Task, Vec<&'static str>);
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Self::Out, StoreError> {
        let mut task = lock_task(tx, self.id).await?;
        let state = task.state();
        let refused = |refused| StoreError::EditRefused { task: self.id, refused };
        let mut fields = self.edit.clone().apply(&mut task.spec, state).map_err(refused)?;
        task.spec.check()?;
        // An edit of the start time also ends the wait after a failure.
        let says_when = self.edit.not_before.is_some() && state != TaskState::Running;
        if says_when && task.history.retry_at.take().is_some() && !fields.contains(&"not_before") {
            fields.push("not_before");
        }
        // An edit of the agent takes the task from the agent it was handed to.
        let says_who = self.edit.agent.is_some() && state != TaskState::Running;
        if says_who && task.history.handed_to.take().is_some() && !fields.contains(&"agent") {
            fields.push("agent");
        }
        if fields.is_empty() {
            return Ok((task, fields));
        }
        if fields.contains(&"branch") {
            refuse_taken(tx, &task).await?;
        }
        Self::write(tx, &task, self.now).await?;
        let names = fields.iter().map(|field| (*field).to_owned()).collect();
        record(tx, self.now, about(&task), &Fact::TaskEdited { fields: names }).await?;
        Ok((read_task(tx, self.id).await?, fields))
    }
}

impl EditTask {
    /// Writes the spec of a task.
    pub(super) async fn write(tx: &mut dyn Tx, task: &Task, now: Millis) -> Result<(), StoreError> {
        let mut params = spec_values(task)?;
        params.extend([
            task.id.into(),
            task.history.retry_at.into(),
            task.due().is_some_and(|at| at > now).into(),
            now.into(),
        ]);
        let sql = "UPDATE tasks SET spec = $1, title = $2, priority = $3, agent = $4, asked_agent = $5, not_before = $6, \
                   due = $7, scope = $8, has_scope = $9, limits = $10, branch = $11, batch = $12, \
                   interactive = $13, retry_at = $15, deferred = $16, updated_at = $17, version = version + 1 \
                   WHERE id = $14";
        tx.defer(Statement { sql, params }).await?;
        rows::erase_texts(tx, task.id).await?;
        rows::write_texts(tx, task.id, &task.spec).await
    }
}

/// One page of tasks in the order of their ids, with what they wait for.
#[derive(Debug, Clone)]
pub struct ExportTasks {
    pub project: Option<ProjectId>,
    /// After this one; `None` begins.
    pub after: Option<TaskId>,
    pub limit: i64,
}

#[async_trait]
impl Op for ExportTasks {
    type Out = Vec<(Task, Vec<TaskId>)>;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Self::Out, StoreError> {
        let page = sql!(
            concat!(
                "SELECT ",
                task_columns!(),
                ", d.text FROM tasks t LEFT JOIN task_descriptions d ON d.task = t.id \
                 WHERE t.id > $1 AND ($2 = '' OR t.project = $2) ORDER BY t.id LIMIT $3"
            ),
            self.after.map_or(String::new(), |id| id.to_string()),
            self.project.map_or(String::new(), |id| id.to_string()),
            self.limit,
        );
        let mut tasks = Vec::new();
        for row in tx.query(page).await? {
            tasks.push(rows::task(row, Described::Joined)?);
        }
        let mut edges = edges_of(tx, &tasks).await?;
        Ok(tasks
            .into_iter()
            .map(|task| {
                let after = edges.remove(&task.id).unwrap_or_default();
                (task, after)
            })
            .collect())
    }
}

async fn edges_of(tx: &mut dyn Tx, tasks: &[Task]) -> Result<BTreeMap<TaskId, Vec<TaskId>>, StoreError> {
    let ids = id_list(tasks.iter().map(|task| task.id));
    let mut edges: BTreeMap<TaskId, Vec<TaskId>> = BTreeMap::new();
    for mut row in tx
        .query(sql!("SELECT task, on_task FROM deps WHERE task IN {list 1} ORDER BY task, on_task", ids))
        .await?
    {
        let edge = Edge { task: row.parse()?, on: row.parse()? };
        edges.entry(edge.task).or_default().push(edge.on);
    }
    Ok(edges)
}
