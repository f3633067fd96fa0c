//! Tasks by their age, newest first, page by page.

use fleet_core::id::ProjectId;
use fleet_core::run::Reason;
use fleet_core::task::{Task, TaskKind, TaskState};

use super::follow::{FollowTasks, FollowedTask};
use super::rows::{self, Described, task_columns};
use crate::ops::prelude::*;

/// Tasks that were added last, each with its newest run. Ids grow with time, so that a page is named by the last id of
/// the one before, and nothing is left out or told twice when tasks are added meanwhile.
#[derive(Debug, Clone)]
pub struct RecentTasks {
    /// Only these; empty is all.
    pub kinds: Vec<TaskKind>,
    pub project: Option<ProjectId>,
    /// Only those that are older than this one.
    pub before: Option<TaskId>,
    pub limit: i64,
}

/// Those of one stored status. Most tasks are over some day: among them the newest are found by walking back, and the
/// engine is kept from sorting them all.
macro_rules! of_status {
    ($status:literal) => {
        concat!(
            "SELECT ",
            task_columns!(),
            " FROM tasks t WHERE ",
            $status,
            " = $1 AND ($2 = '' OR t.id < $2) AND ($3 = '' OR t.project = $3) \
             AND ($4 = '' OR CASE WHEN t.reason = $5 THEN 'yes' ELSE 'no' END = $4) ORDER BY t.id DESC LIMIT $6"
        )
    };
}

const ALL: &str = concat!(
    "SELECT ",
    task_columns!(),
    " FROM tasks t WHERE ($1 = '' OR t.id < $1) AND ($2 = '' OR t.project = $2) ORDER BY t.id DESC LIMIT $3"
);

#[async_trait]
impl Op for RecentTasks {
    type Out = Vec<FollowedTask>;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Self::Out, StoreError> {
        let before = self.before.as_ref().map_or("", TaskId::as_str);
        let project = self.project.as_ref().map_or("", ProjectId::as_str);
        let limit = self.limit.max(0);
        let mut statements = Vec::new();
        for kind in &self.kinds {
            let timed_out = kind.timed_out.map_or("", |yes| if yes { "yes" } else { "no" });
            let text = match kind.state {
                TaskState::Done | TaskState::Cancelled => of_status!("t.status || ''"),
                _ => of_status!("t.status"),
            };
            for status in statuses(kind.state) {
                let reason = Reason::TimedOut.as_str();
                statements.push(sql!(text, *status, before, project, timed_out, reason, limit));
            }
        }
        if self.kinds.is_empty() {
            statements.push(sql!(ALL, before, project, limit));
        }
        let rows = tx.query_all(statements).await?.into_iter().flatten();
        let found = rows.map(|row| rows::task(row, Described::LeftOut)).collect::<Result<Vec<Task>, _>>()?;
        let mut ids: Vec<TaskId> = found.iter().map(|task| task.id).collect();
        ids.sort_unstable_by(|left, right| right.cmp(left));
        ids.dedup();
        ids.truncate(usize::try_from(limit).unwrap_or(0));
        FollowTasks { ids }.run(tx).await
    }
}

fn statuses(state: TaskState) -> &'static [&'static str] {
    match state {
        TaskState::Queued => &["ready", "scheduled", "blocked"],
        TaskState::Running => &["running"],
        TaskState::Waiting => &["waiting"],
        TaskState::Held => &["held"],
        TaskState::Done => &["done"],
        TaskState::Failed => &["failed"],
        TaskState::Cancelled => &["cancelled"],
    }
}
