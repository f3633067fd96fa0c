//! Lists of tasks: every one an index scan with a bound, whatever the size of the store.

use std::collections::BTreeMap;

use fleet_core::deps::{self, Obstacle};
use fleet_core::id::{BatchId, ProjectId};
use fleet_core::task::{Label, Status, Task, TaskState};

use super::deps::id_list;
use super::rows::{self, Described, task_columns};
use crate::ops::prelude::*;

#[derive(Debug, Clone, Default)]
pub struct TaskFilter {
    pub project: Option<ProjectId>,
    /// Only those that have all of these.
    pub labels: Vec<Label>,
    pub batch: Option<BatchId>,
}

/// The statuses that a list shows, in the order in which it shows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusFilter(pub Vec<Status>);

impl StatusFilter {
    /// What is not over: what needs a person or is at work first.
    pub fn open() -> Self {
        let first = [TaskState::Running, TaskState::Waiting, TaskState::Failed].map(Status::In);
        let rest = [Status::Ready, Status::Scheduled, Status::Blocked, Status::In(TaskState::Held)];
        Self(first.into_iter().chain(rest).collect())
    }

    pub fn all() -> Self {
        let over = [TaskState::Done, TaskState::Cancelled].map(Status::In);
        Self(Self::open().0.into_iter().chain(over).collect())
    }
}

/// Some tasks, without their descriptions, status by status, each in the order in which tasks are served.
#[derive(Debug, Clone)]
pub struct ListTasks {
    pub statuses: StatusFilter,
    pub filter: TaskFilter,
    pub limit: i64,
    pub now: Millis,
}

/// Tasks that were cancelled before they had a run, newest first, without their descriptions.
#[derive(Debug, Clone)]
pub struct CancelledUnstarted {
    pub project: Option<ProjectId>,
    pub batch: Option<BatchId>,
    pub limit: i64,
}

#[async_trait]
impl Op for CancelledUnstarted {
    type Out = Vec<Task>;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Vec<Task>, StoreError> {
        let find = sql!(
            concat!(
                "SELECT ",
                task_columns!(),
                " FROM tasks t WHERE t.status = 'cancelled' AND t.fence = 0 AND ($1 = '' OR t.project = $1) \
                 AND ($2 = '' OR t.batch = $2) ORDER BY t.id DESC LIMIT $3"
            ),
            self.project.as_ref().map_or("", ProjectId::as_str),
            self.batch.as_ref().map_or("", BatchId::as_str),
            self.limit,
        );
        let rows = tx.query_alone(find).await?.into_iter();
        rows.map(|row| rows::task(row, Described::LeftOut)).collect()
    }
}

#[derive(Debug, Clone, Default)]
pub struct TaskPage {
    pub tasks: Vec<Task>,
    /// What blocks the blocked tasks.
    pub obstacles: BTreeMap<TaskId, Obstacle>,
    pub more: bool,
}

/// At most this many dependencies are searched for obstacles: a list must stay quick with any graph.
const MAX_EDGES: i64 = 2_000;

#[async_trait]
impl Op for ListTasks {
    type Out = TaskPage;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<TaskPage, StoreError> {
        let mut tasks: Vec<Task> = Vec::new();
        for status in &self.statuses.0 {
            let missing = self.limit + 1 - i64::try_from(tasks.len()).unwrap_or(self.limit);
            if missing <= 0 {
                break;
            }
            tasks.extend(self.of_status(tx, *status, missing).await?);
        }
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let more = tasks.len() > limit;
        tasks.truncate(limit);
        let obstacles = obstacles(tx, &tasks).await?;
        Ok(TaskPage { tasks, obstacles, more })
    }
}

impl ListTasks {
    async fn of_status(&self, tx: &mut dyn Tx, status: Status, limit: i64) -> Result<Vec<Task>, StoreError> {
        let mut found = Vec::new();
        for kind in kinds(status) {
            for row in tx.query(self.query(*kind, limit)).await? {
                found.push(rows::task(row, Described::LeftOut)?);
            }
        }
        // Two kinds may make up a status; together they are in the order of service again.
        found.sort_by_key(|task| (std::cmp::Reverse(task.spec.priority), task.id));
        found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(found)
    }

    /// `$1` is the stored status or the time, `$2` the bound, then batch, project and labels.
    fn query(&self, kind: StatusKind, limit: i64) -> Statement {
        let key = match kind {
            StatusKind::Stored(status) => status.into(),
            StatusKind::Due | StatusKind::NotDue => self.now.into(),
        };
        let labels = serde_json::to_string(&self.filter.labels).unwrap_or_default();
        let count = i64::try_from(self.filter.labels.len()).unwrap_or(i64::MAX);
        let mut params = vec![key, limit.into()];
        params.extend(self.filter.batch.map(Into::into));
        params.extend(self.filter.project.map(Into::into));
        let labelled = !self.filter.labels.is_empty();
        if labelled {
            params.extend([labels.into(), count.into()]);
        }
        let narrowed = (self.filter.batch.is_some(), self.filter.project.is_some(), labelled);
        Statement { sql: query_text(kind, narrowed), params }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StatusKind {
    Stored(&'static str),
    /// Stored as scheduled, but their time has come and no claim has looked since.
    Due,
    /// Stored as scheduled, and not yet due.
    NotDue,
}

fn kinds(status: Status) -> &'static [StatusKind] {
    match status {
        Status::Ready => &[StatusKind::Stored("ready"), StatusKind::Due],
        Status::Scheduled => &[StatusKind::NotDue],
        Status::Blocked => &[StatusKind::Stored("blocked")],
        Status::In(TaskState::Queued) => {
            &[StatusKind::Stored("ready"), StatusKind::Due, StatusKind::NotDue, StatusKind::Stored("blocked")]
        }
        Status::In(TaskState::Running) => &[StatusKind::Stored("running")],
        Status::In(TaskState::Waiting) => &[StatusKind::Stored("waiting")],
        Status::In(TaskState::Held) => &[StatusKind::Stored("held")],
        Status::In(TaskState::Done) => &[StatusKind::Stored("done")],
        Status::In(TaskState::Failed) => &[StatusKind::Stored("failed")],
        Status::In(TaskState::Cancelled) => &[StatusKind::Stored("cancelled")],
    }
}

macro_rules! list_query {
    ($($condition:expr),+) => {
        concat!("SELECT ", task_columns!(), " FROM tasks t WHERE ", $($condition,)+ " ORDER BY t.priority DESC, t.id LIMIT $2")
    };
}

macro_rules! labelled {
    ($labels:literal, $count:literal) => {
        concat!(
            " AND t.id IN (SELECT task FROM task_labels WHERE label IN {list ",
            $labels,
            "} GROUP BY task HAVING count(*) = $",
            $count,
            ")"
        )
    };
}
pub(super) use labelled;

/// By batch, project and labels. A batch is small beside a project: the engine is kept from taking the project's index
/// for it.
macro_rules! list_queries {
    ($condition:literal, $narrowed:expr) => {
        match $narrowed {
            (false, false, false) => list_query!($condition),
            (false, true, false) => list_query!($condition, " AND t.project = $3"),
            (false, false, true) => list_query!($condition, labelled!(3, 4)),
            (false, true, true) => list_query!($condition, " AND t.project = $3", labelled!(4, 5)),
            (true, false, false) => list_query!($condition, " AND t.batch = $3"),
            (true, true, false) => list_query!($condition, " AND t.batch = $3 AND t.project || '' = $4"),
            (true, false, true) => list_query!($condition, " AND t.batch = $3", labelled!(4, 5)),
            (true, true, true) => {
                list_query!($condition, " AND t.batch = $3 AND t.project || '' = $4", labelled!(5, 6))
            }
        }
    };
}

fn query_text(kind: StatusKind, narrowed: (bool, bool, bool)) -> &'static str {
    match kind {
        StatusKind::Stored(_) => list_queries!("t.status = $1", narrowed),
        StatusKind::Due => list_queries!(
            "t.deferred = 1 AND t.due <= $1 AND t.state = 'queued' AND t.open_deps = 0",
            narrowed
        ),
        StatusKind::NotDue => list_queries!("t.status = 'scheduled' AND t.due > $1", narrowed),
    }
}

/// What blocks tasks that wait for others.
pub(super) async fn obstacles(
    tx: &mut dyn Tx,
    tasks: &[Task],
) -> Result<BTreeMap<TaskId, Obstacle>, StoreError> {
    let blocked = |task: &&Task| task.open_deps > 0 && !task.state().is_settled();
    let roots: Vec<TaskId> = tasks.iter().filter(blocked).map(|task| task.id).collect();
    if roots.is_empty() {
        return Ok(BTreeMap::new());
    }
    let edges = super::deps::open_upstream(tx, &roots, MAX_EDGES).await?;
    let ids = id_list(edges.iter().map(|edge| edge.on));
    let mut states = BTreeMap::new();
    for mut row in tx.query(sql!("SELECT id, state FROM tasks WHERE id IN {list 1}", ids)).await? {
        states.insert(row.parse()?, row.parse()?);
    }
    Ok(roots.iter().filter_map(|root| Some((*root, deps::obstacle(&edges, &states, *root)?))).collect())
}

/// What a claim would take, in order.
#[derive(Debug, Clone)]
pub struct ListReady {
    pub filter: TaskFilter,
    pub limit: i64,
    pub now: Millis,
}

#[async_trait]
impl Op for ListReady {
    type Out = TaskPage;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<TaskPage, StoreError> {
        let statuses = StatusFilter(vec![Status::Ready]);
        ListTasks { statuses, filter: self.filter.clone(), limit: self.limit, now: self.now }.run(tx).await
    }
}
