//! Lists of runs, newest first, whatever the size of the store.
//!
//! Live runs are few: all are read and then filtered. Ended runs are many: one condition has an index that gives them
//! newest first, and the others are checked on the way.

use std::cmp::Reverse;

use fleet_core::id::{BatchId, ProjectId};
use fleet_core::run::Run;
use fleet_core::task::{TaskState, Title};

use super::row::{run, run_columns};
use crate::ops::prelude::*;
use crate::value::Value;

#[derive(Debug, Clone, Default)]
pub struct RunFilter {
    pub live_only: bool,
    pub project: Option<ProjectId>,
    pub task: Option<TaskId>,
    pub batch: Option<BatchId>,
    pub place: Option<String>,
    pub agent: Option<String>,
    pub newest_of_task: bool,
}

/// Some runs, newest first.
#[derive(Debug, Clone)]
pub struct ListRuns {
    pub filter: RunFilter,
    pub limit: i64,
}

/// More attempts than a task has in practice.
const MAX_ATTEMPTS: i64 = 1_000;

impl ListRuns {
    /// All attempts at a task.
    pub fn of_task(task: TaskId) -> Self {
        Self { filter: RunFilter { task: Some(task), ..RunFilter::default() }, limit: MAX_ATTEMPTS }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedRun {
    pub run: Run,
    /// The title of its task; `None` if that was deleted.
    pub title: Option<Title>,
    /// The state of its task; `None` if that was deleted.
    pub task_state: Option<TaskState>,
    /// The branch that was chosen for its task.
    pub task_branch: Option<String>,
    pub batch: Option<BatchId>,
    pub project_name: String,
}

/// Each parameter is a condition, or empty for none. `$1` is the bound, which only those that ended need.
macro_rules! run_query {
    ($($driver:literal),+; $($order:literal)?) => {
        concat!(
            "SELECT ",
            run_columns!(),
            ", t.title, t.state, t.branch, t.batch, p.name FROM runs r LEFT JOIN tasks t ON t.id = r.task \
             LEFT JOIN projects p ON p.id = r.project WHERE ",
            $($driver,)+
            " AND ($2 = '' OR r.project = $2) AND ($3 = '' OR r.task = $3) AND ($4 = '' OR t.batch = $4) \
             AND ($5 = '' OR r.place = $5) AND ($6 = '' OR r.agent = $6) \
             AND ($7 = 0 OR NOT EXISTS (SELECT 1 FROM runs n WHERE n.task = r.task AND n.fence > r.fence))",
            $($order)?
        )
    };
    (many: $driver:literal) => {
        run_query!("r.ended_at IS NOT NULL AND ", $driver; " ORDER BY r.id DESC LIMIT $1")
    };
    // Sorted afterwards: an engine that walks all runs in their order to find a few of them would never end.
    (few: $driver:literal) => {
        run_query!("r.ended_at IS NOT NULL AND ", $driver; " ORDER BY r.id || '' DESC LIMIT $1")
    };
}

const LIVE: &str = run_query!("r.ended_at IS NULL AND CAST($1 AS BIGINT) >= 0";);

#[async_trait]
impl Op for ListRuns {
    type Out = Vec<ListedRun>;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Vec<ListedRun>, StoreError> {
        let mut statements = vec![self.statement(LIVE)];
        if !self.filter.live_only {
            statements.push(self.statement(self.filter.ended()));
        }
        let rows = tx.query_all(statements).await?.into_iter().flatten();
        let mut runs = rows.map(listed).collect::<Result<Vec<_>, _>>()?;
        runs.sort_by_key(|listed| Reverse(listed.run.id));
        runs.truncate(usize::try_from(self.limit).unwrap_or(0));
        Ok(runs)
    }
}

impl ListRuns {
    fn statement(&self, sql: &'static str) -> Statement {
        let filter = &self.filter;
        let text = |text: Option<&str>| Value::from(text.unwrap_or_default());
        let params = vec![
            self.limit.max(0).into(),
            text(filter.project.as_ref().map(ProjectId::as_str)),
            text(filter.task.as_ref().map(TaskId::as_str)),
            text(filter.batch.as_ref().map(BatchId::as_str)),
            text(filter.place.as_deref()),
            text(filter.agent.as_deref()),
            filter.newest_of_task.into(),
        ];
        Statement { sql, params }
    }
}

impl RunFilter {
    /// Those that ended, by the index of the condition that usually fits the fewest.
    fn ended(&self) -> &'static str {
        if self.task.is_some() {
            run_query!(few: "r.task = $3")
        } else if self.batch.is_some() {
            run_query!(few: "r.task IN (SELECT b.id FROM tasks b WHERE b.batch = $4)")
        } else if self.agent.is_some() {
            run_query!(many: "r.agent = $6")
        } else if self.project.is_some() {
            run_query!(many: "r.project = $2")
        } else if self.place.is_some() {
            run_query!(many: "r.place = $5")
        } else {
            run_query!(many: "1 = 1")
        }
    }
}

fn listed(mut row: Row) -> Result<ListedRun, StoreError> {
    let row = &mut row;
    Ok(ListedRun {
        run: run(row)?,
        title: row.optional_parse()?,
        task_state: row.optional_parse()?,
        task_branch: row.optional_text()?,
        batch: row.optional_parse()?,
        project_name: row.optional_text()?.unwrap_or_default(),
    })
}
