//! Tasks that are followed.

use fleet_api::verbs::task_wait::Request;
use fleet_api::views::Followed;
use fleet_core::id::TaskId;
use fleet_core::problem::Outcome;
use fleet_core::task::TaskState;
use fleet_core::time::Millis;

use super::lines::Lines;
use super::screen::{most_telling, rest, rows};
use super::{End, LOOK, Subject, stay};
use crate::commands::Context;
use crate::output::dim;

/// How the tasks stand at the end.
#[derive(Debug, Clone)]
pub(crate) struct Watched {
    /// In the order in which they were named; those that were deleted are missing.
    pub(crate) tasks: Vec<Followed>,
    /// How many were deleted meanwhile.
    pub(crate) deleted: usize,
    /// Why it ended.
    pub(crate) end: End,
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
    let request = Request { ids: names, ..Request::default() };
    let (tasks, end) =
        stay(context, &mut Tasks { context, request, wanted, lines: Lines::default() }).await?;
    Ok(Watched { deleted: ids.len() - tasks.len(), tasks, end })
}

struct Tasks<'a> {
    context: &'a Context,
    request: Request,
    wanted: &'a dyn Fn(&[Followed]) -> bool,
    lines: Lines,
}

impl Subject for Tasks<'_> {
    type Seen = Vec<Followed>;

    async fn look(&mut self) -> Outcome<Vec<Followed>> {
        let seen = self.context.call(self.request.clone()).await?;
        (self.request.after, self.request.wait_seconds) = (Some(seen.next), Some(LOOK));
        Ok(seen.tasks)
    }

    fn is_over(&self, tasks: &Vec<Followed>) -> bool {
        tasks.iter().all(Followed::is_over) || (self.wanted)(tasks)
    }

    fn is_queued(&self, tasks: &Vec<Followed>) -> bool {
        tasks.iter().any(|one| one.task.state == TaskState::Queued)
    }

    fn block(&self, tasks: &Vec<Followed>, room: Option<usize>, now: Millis) -> Vec<String> {
        let shown = most_telling(tasks, room.unwrap_or(usize::MAX));
        let mut lines = rows(&shown, now);
        if shown.len() < tasks.len() {
            lines.push(dim(&rest(tasks, &shown)));
        }
        lines
    }

    fn news(&mut self, tasks: &Vec<Followed>, now: Millis) -> Vec<String> {
        self.lines.news(tasks, now)
    }
}
