//! Tasks that are followed.

use fleet_api::verbs::task_wait::Request;
use fleet_api::views::Followed;
use fleet_core::id::TaskId;
use fleet_core::problem::Outcome;
use fleet_core::task::TaskState;
use fleet_core::text::escaped;
use fleet_core::time::Millis;

use super::rows::{Cells, FollowedRow, RowFacts};
use super::{FollowEnd, FollowSubject, POLL_SECONDS, stay, words};
use crate::commands::Context;
use crate::output::{Column, dim, paint_status, strong};

/// How the tasks stand at the end.
#[derive(Debug, Clone)]
pub(crate) struct Watched {
    /// In the order in which they were named; those that were deleted are missing.
    pub(crate) tasks: Vec<Followed>,
    pub(crate) deleted: usize,
    pub(crate) end: FollowEnd,
}

/// Shows these tasks until all are over, or until Ctrl-C. What is left to say is for [`super::conclude`].
pub(crate) async fn follow(context: &Context, ids: &[TaskId]) -> Outcome<Watched> {
    follow_until(context, ids, &|_| false).await
}

/// The same, but also until they stand as somebody wants them to.
pub(crate) async fn follow_until(
    context: &Context,
    ids: &[TaskId],
    wanted: &dyn Fn(&[Followed]) -> bool,
) -> Outcome<Watched> {
    let names = ids.iter().map(ToString::to_string).collect();
    // No answer has this name: the first one comes at once, also if a task has been deleted by then.
    let request = Request { ids: names, after: Some(String::new()), ..Request::default() };
    let (tasks, end) = stay(context, &mut Tasks { context, request, wanted }).await?;
    Ok(Watched { deleted: ids.len() - tasks.len(), tasks, end })
}

struct Tasks<'a> {
    context: &'a Context,
    request: Request,
    wanted: &'a dyn Fn(&[Followed]) -> bool,
}

impl FollowSubject for Tasks<'_> {
    type Seen = Vec<Followed>;
    type Row = Followed;

    fn rows(tasks: &Vec<Followed>) -> &[Followed] {
        tasks
    }

    async fn look(&mut self) -> Outcome<Vec<Followed>> {
        let seen = self.context.call(self.request.clone()).await?;
        (self.request.after, self.request.wait_seconds) = (Some(seen.next), Some(POLL_SECONDS));
        Ok(seen.tasks)
    }

    fn is_over(&self, tasks: &Vec<Followed>) -> bool {
        tasks.iter().all(Followed::is_over) || (self.wanted)(tasks)
    }

    fn is_queued(&self, tasks: &Vec<Followed>) -> bool {
        tasks.iter().any(|one| one.task.state == TaskState::Queued)
    }
}

impl FollowedRow for Followed {
    const NOUN: &'static str = "task";
    /// Ids are in every other list, and the agent is known.
    const OPTIONAL: [&'static str; 2] = ["ID", "AGENT"];

    fn facts(&self) -> RowFacts<'_> {
        // Those at work come before those that wait, and these before those that are over.
        let rank = match self.task.state {
            TaskState::Running => 0,
            TaskState::Waiting => 1,
            TaskState::Queued | TaskState::Held => 2,
            TaskState::Failed => 3,
            TaskState::Done | TaskState::Cancelled => 4,
        };
        RowFacts { key: self.task.id.as_str(), status: &self.task.status, attempts: self.task.attempts, rank }
    }

    fn line(&self, now: Millis) -> Option<String> {
        let details = match self.task.state {
            TaskState::Running => words::agent(self),
            TaskState::Done => words::took(self).map(|took| format!("in {took}")).unwrap_or_default(),
            _ => words::activity(self, now),
        };
        let pad = " ".repeat(9_usize.saturating_sub(self.task.status.len()));
        let line = format!(
            "{}  {}{pad}  {}  {}",
            strong(self.task.id.as_str()),
            paint_status(&self.task.status),
            escaped(&self.branch()),
            escaped(&details)
        );
        Some(line.trim_end().to_owned())
    }

    fn columns(cells: &Cells<'_, Self>, now: Millis) -> Vec<Column> {
        vec![
            cells.column("ID", &|one| one.task.id.short().to_owned()),
            // As wide as the longest state, so that the columns stay where they are.
            cells.column("STATE    ", &|one| words::state(one).to_owned()).painted(words::paint_state),
            cells.column("BRANCH", &|one| one.branch()).naming(),
            cells.column("AGENT", &words::agent).giving_way(),
            cells.column("TIME  ", &|one| words::elapsed(one, now)).painted(dim),
            cells.column("ACTIVITY", &|one| words::activity(one, now)).giving_way(),
        ]
    }
}
