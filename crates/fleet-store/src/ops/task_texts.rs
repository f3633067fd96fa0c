//! Tasks with the beginning of what they say: what searches and comparisons of texts look at.
//!
//! The newest of each status and priority come from an index, so that the cost has a bound whatever the size of the
//! store. A full-text index was left out: each engine has its own with its own idea of a word, and every write would
//! pay for it.

use std::cmp::Reverse;

use fleet_core::id::ProjectId;
use fleet_core::similar;
use fleet_core::task::{Label, Status, Task, TaskState};

use super::deps::id_list;
use super::list::labelled;
use super::rows::{self, Described, task_columns};
use crate::ops::prelude::*;

/// The newest tasks of some statuses, with the beginnings of their descriptions.
#[derive(Debug, Clone)]
pub struct TaskTexts {
    pub statuses: Vec<Status>,
    pub project: Option<ProjectId>,
    /// Only those that have all of these, each named once.
    pub labels: Vec<Label>,
    pub limit: i64,
    pub now: Millis,
}

/// Tasks, newest first.
#[derive(Debug, Clone)]
pub struct TaskTextPage {
    /// The tasks. Their descriptions are cut to what [`similar`] looks at.
    pub tasks: Vec<Task>,
    pub more: bool,
}

macro_rules! newest {
    ($($condition:expr),*) => {
        concat!(
            "SELECT t.id FROM tasks t WHERE t.status = $1 AND t.priority = $2",
            $($condition,)*
            " ORDER BY t.id DESC LIMIT $3"
        )
    };
}

const TEXTS: &str = concat!(
    "SELECT ",
    task_columns!(),
    ", substr(d.text, 1, 4000) FROM tasks t LEFT JOIN task_descriptions d ON d.task = t.id WHERE t.id IN {list 1}"
);

const _: () = assert!(similar::LONGEST_COMPARED == 4_000, "the statement reads what is looked at");

/// Every priority is a range of the index.
const PRIORITIES: std::ops::RangeInclusive<i64> = 1..=5;

#[async_trait]
impl Op for TaskTexts {
    type Out = TaskTextPage;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<TaskTextPage, StoreError> {
        let mut ids: Vec<TaskId> = Vec::new();
        for rows in tx.query_all(self.statements()).await? {
            for mut row in rows {
                ids.push(row.parse()?);
            }
        }
        ids.sort_by_key(|id| Reverse(*id));
        let limit = usize::try_from(self.limit).unwrap_or(0);
        let more = ids.len() > limit;
        ids.truncate(limit);
        let texts = sql!(TEXTS, id_list(ids.into_iter()));
        let mut tasks = Vec::new();
        for row in tx.query(texts).await? {
            tasks.push(rows::task(row, Described::Joined)?);
        }
        // One that is stored as scheduled may be ready by now.
        tasks.retain(|task| self.statuses.iter().any(|status| is_of(task, *status, self.now)));
        tasks.sort_by_key(|task| Reverse(task.id));
        Ok(TaskTextPage { tasks, more })
    }
}

impl TaskTexts {
    /// `$1` is the stored status, `$2` the priority, `$3` the bound, then project and labels.
    fn statements(&self) -> Vec<Statement> {
        let mut stored: Vec<&str> = self.statuses.iter().flat_map(|status| kinds(*status)).copied().collect();
        stored.sort_unstable();
        stored.dedup();
        let statement = |status: &'static str, priority: i64| {
            let mut params = vec![status.into(), priority.into(), (self.limit + 1).into()];
            params.extend(self.project.map(Into::into));
            if !self.labels.is_empty() {
                let count = i64::try_from(self.labels.len()).unwrap_or(i64::MAX);
                params.push(serde_json::to_string(&self.labels).unwrap_or_default().into());
                params.push(count.into());
            }
            let sql = match (self.project.is_some(), self.labels.is_empty()) {
                (false, true) => newest!(),
                (true, true) => newest!(" AND t.project = $4"),
                (false, false) => newest!(labelled!(4, 5)),
                (true, false) => newest!(" AND t.project = $4", labelled!(5, 6)),
            };
            Statement { sql, params }
        };
        stored
            .into_iter()
            .flat_map(|status| PRIORITIES.map(move |priority| statement(status, priority)))
            .collect()
    }
}

/// The stored statuses that tasks of this one may have.
fn kinds(status: Status) -> &'static [&'static str] {
    match status {
        Status::Ready => &["ready", "scheduled"],
        Status::Scheduled => &["scheduled"],
        Status::Blocked => &["blocked"],
        Status::In(TaskState::Queued) => &["ready", "scheduled", "blocked"],
        Status::In(TaskState::Running) => &["running"],
        Status::In(TaskState::Waiting) => &["waiting"],
        Status::In(TaskState::Held) => &["held"],
        Status::In(TaskState::Done) => &["done"],
        Status::In(TaskState::Failed) => &["failed"],
        Status::In(TaskState::Cancelled) => &["cancelled"],
    }
}

fn is_of(task: &Task, status: Status, now: Millis) -> bool {
    match status {
        Status::In(state) => task.state() == state,
        derived => task.status(now) == derived,
    }
}
