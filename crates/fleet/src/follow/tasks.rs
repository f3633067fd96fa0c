//! Tasks that are followed.

use std::time::Duration;

use fleet_core::id::TaskId;
use fleet_core::problem::Outcome;
use fleet_core::task::TaskState;
use fleet_core::time::Millis;
use fleet_engine::verbs::follow::{Follow, Followed};

use super::lines::Lines;
use super::screen::{most_telling, rest, rows};
use super::{End, Subject, stay};
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
    let follow = Follow::start(&context.engine, ids.to_vec()).await?;
    let (tasks, end) = stay(context, &mut Tasks { follow, wanted, lines: Lines::default() }).await?;
    Ok(Watched { deleted: ids.len() - tasks.len(), tasks, end })
}

struct Tasks<'a> {
    follow: Follow<'a>,
    wanted: &'a dyn Fn(&[Followed]) -> bool,
    lines: Lines,
}

impl Subject for Tasks<'_> {
    type Seen = Vec<Followed>;

    async fn look(&self) -> Outcome<Vec<Followed>> {
        self.follow.look().await
    }

    async fn changed(&self, longest: Duration) {
        self.follow.changed(longest).await;
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
