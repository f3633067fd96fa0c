//! The state of tasks that a caller waits for.

use fleet_api::views::Followed;

use super::prelude::*;

/// How these stand, in the order in which they were named; those that were deleted are left out.
pub(super) async fn look(engine: &Engine, ids: &[TaskId]) -> Outcome<Vec<Followed>> {
    let seen = engine.call(ops::FollowTasks { ids: ids.to_vec() }).await?;
    let now = engine.now();
    Ok(seen.iter().map(|one| view(one, now)).collect())
}

pub(super) fn view(seen: &ops::FollowedTask, now: Millis) -> Followed {
    Followed::new((&seen.task, seen.run.as_ref()), seen.obstacle.as_ref(), now)
}
