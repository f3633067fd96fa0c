//! Adding, reading and editing tasks.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use fleet_core::deps::Edge;
use fleet_core::event::Fact;
use fleet_core::id::{ProjectId, TaskId};
use fleet_core::run::Run;
use fleet_core::task::{Spawn, Task, TaskEdit, TaskHistory, TaskParts, TaskSpec, TaskState};
use fleet_core::time::Millis;

use super::author::Author;
use super::branches::{refuse_taken, refuse_taken_by_any};
use super::deps::id_list;
use super::rows::{
    self, Described, about, agent_values, lock_task, read_task, record, spec_values, task_columns,
};
use super::runs::row::{self, run_columns};
use super::workflows::{self, NamedStage, stored_place};
use crate::StoreError;
use crate::tx::{Mode, Op, Statement, Tx, sql};
use crate::value::Value;

/// A task that does not exist yet.
#[derive(Debug, Clone)]
pub struct NewTask {
    /// Its id, new.
    pub id: TaskId,
    /// Its project, which exists.
    pub project: ProjectId,
    /// What its author decided.
    pub spec: TaskSpec,
    /// What it waits for: tasks that exist, or others of the same batch.
    pub after: Vec<TaskId>,
    /// Queued, unless it comes from another store.
    pub state: TaskState,
}

/// Adds tasks, all or none. Circles within the batch are the caller's business: a new task cannot close one
/// with an old one.
#[derive(Debug, Clone)]
pub struct AddTasks {
    /// In any order.
    pub tasks: Vec<NewTask>,
    /// Who adds them.
    pub author: Author,
    /// Now.
    pub now: Millis,
}

#[async_trait]
impl Op for AddTasks {
    type Out = Vec<Task>;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Vec<Task>, StoreError> {
        let spawn = self.author.spawn(tx, self.tasks.len()).await?;
        let states = self.dependency_states(tx).await?;
        let fences = earlier_claims(tx, self.tasks.iter().map(|new| new.id)).await?;
        let mut added = Vec::with_capacity(self.tasks.len());
        for new in &self.tasks {
            let open = new.waits_for().iter().filter(|on| states.get(on) != Some(&TaskState::Done)).count();
            let open_deps = i64::try_from(open).unwrap_or(i64::MAX);
            let fence = fences.get(&new.id).copied().unwrap_or(0);
            added.push(TaskParts { spawn, ..new.parts(open_deps, fence, self.now) }.into());
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
    /// What it waits for, in the author's order: to name a task twice is to name it once.
    fn waits_for(&self) -> Vec<TaskId> {
        let mut seen = BTreeSet::new();
        self.after.iter().copied().filter(|on| seen.insert(*on)).collect()
    }

    fn parts(&self, open_deps: i64, fence: i64, now: Millis) -> TaskParts {
        TaskParts {
            id: self.id,
            project: self.project,
            spec: self.spec.clone(),
            history: TaskHistory { fence, ..TaskHistory::default() },
            spawn: Spawn::default(),
            stage: None,
            open_deps,
            version: 1,
            created_at: now,
            updated_at: now,
            state: self.state,
        }
    }
}

impl AddTasks {
    /// The state of everything that is waited for. Existing tasks are locked against finishing meanwhile: the
    /// count of open dependencies would be wrong for ever.
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

/// How often tasks of these ids were claimed before they were deleted: a fencing number is never given twice.
/// An id that is there now, or twice among them, is told as such and not as a failure of the engine.
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
    let spec = &task.spec;
    let [agent, _] = agent_values(task);
    let mut params: Vec<Value> = vec![
        task.id.into(),
        task.project.into(),
        task.state().as_str().into(),
        spec.priority.get().into(),
        agent,
        task.open_deps.into(),
        spec.not_before.is_some_and(|at| at > task.created_at).into(),
        spec.not_before.into(),
        task.history.fence.into(),
        task.created_at.into(),
    ];
    params.extend(spec_values(spec)?);
    params.extend([task.due().into(), (!spec.scope.is_empty()).into()]);
    let Spawn { parent, depth, most } = task.spawn;
    params.extend([parent.into(), depth.into(), most.into()]);
    let (workflow, part) = task.stage.map(|stage| (stage.workflow, stored_place(stage.part))).unzip();
    params.extend([spec.may_be_empty.into(), workflow.into(), part.into()]);
    let sql = "INSERT INTO tasks (id, project, state, priority, agent, open_deps, deferred, not_before, version, fence, \
               failures, created_at, updated_at, title, labels, scope, complexity, model, base, branch, limits, retry, \
               meta, batch, read_only, due, scoped, parent, depth, spawn_depth, may_be_empty, workflow, part) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 1, $9, 0, $10, $10, $11, $12, \
               $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30)";
    Ok(Statement { sql, params })
}

/// A task with what surrounds it.
#[derive(Debug, Clone)]
pub struct TaskDetail {
    /// The task.
    pub task: Task,
    /// What it waits or waited for.
    pub after: Vec<(TaskId, TaskState)>,
    /// What waits for it.
    pub before: Vec<(TaskId, TaskState)>,
    /// Its runs, oldest first.
    pub runs: Vec<Run>,
    /// The stage of a workflow that it is, if it is one.
    pub stage: Option<NamedStage>,
}

/// Reads one task with what surrounds it.
#[derive(Debug, Clone, Copy)]
pub struct GetTask {
    /// Which.
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
        let stage = workflows::named_stage(tx, &task).await?;
        Ok(TaskDetail { task, after, before, runs, stage })
    }
}

/// Changes what the author of a task decided.
#[derive(Debug, Clone)]
pub struct EditTask {
    /// Which.
    pub id: TaskId,
    /// The new values.
    pub edit: TaskEdit,
    /// Now.
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
        // Whoever says when it may start also ends the wait after a failure.
        let says_when = self.edit.not_before.is_some() && state != TaskState::Running;
        if says_when && task.history.retry_at.take().is_some() && !fields.contains(&"not_before") {
            fields.push("not_before");
        }
        // Whoever says which agent takes the task from the one that it was handed to.
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
        self.write(tx, &task).await?;
        let names = fields.iter().map(|field| (*field).to_owned()).collect();
        record(tx, self.now, about(&task), &Fact::TaskEdited { fields: names }).await?;
        Ok((read_task(tx, self.id).await?, fields))
    }
}

impl EditTask {
    async fn write(&self, tx: &mut dyn Tx, task: &Task) -> Result<(), StoreError> {
        let spec = &task.spec;
        let [agent, asked] = agent_values(task);
        let mut params: Vec<Value> = vec![
            task.id.into(),
            spec.priority.get().into(),
            agent,
            spec.not_before.into(),
            task.due().is_some_and(|at| at > self.now).into(),
            self.now.into(),
        ];
        params.extend(spec_values(spec)?);
        params.extend([
            task.history.retry_at.into(),
            task.due().into(),
            (!spec.scope.is_empty()).into(),
            asked,
        ]);
        let sql = "UPDATE tasks SET priority = $2, agent = $3, not_before = $4, deferred = $5, updated_at = $6, \
                   title = $7, labels = $8, scope = $9, complexity = $10, model = $11, base = $12, branch = $13, \
                   limits = $14, retry = $15, meta = $16, batch = $17, read_only = $18, retry_at = $19, \
                   due = $20, scoped = $21, asked_agent = $22, version = version + 1 WHERE id = $1";
        tx.defer(Statement { sql, params }).await?;
        rows::erase_texts(tx, task.id).await?;
        rows::write_texts(tx, task.id, spec).await
    }
}

/// One page of tasks in the order of their ids, with what they wait for.
#[derive(Debug, Clone)]
pub struct ExportTasks {
    /// Only this project's.
    pub project: Option<ProjectId>,
    /// After this one; `None` begins.
    pub after: Option<TaskId>,
    /// So many at most.
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

/// What each of these tasks waits for.
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
