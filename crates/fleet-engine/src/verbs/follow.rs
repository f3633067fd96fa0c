//! How tasks stand that somebody waits for.

use fleet_api::views::Followed;
use fleet_core::id::TaskId;
use fleet_core::problem::Outcome;
use fleet_core::time::Millis;
use fleet_store::ops;

use crate::Engine;

/// How these stand, in the order in which they were named; those that were deleted are left out.
pub(super) async fn look(engine: &Engine, ids: &[TaskId]) -> Outcome<Vec<Followed>> {
    let seen = engine.call(ops::FollowTasks { ids: ids.to_vec() }).await?;
    let now = engine.now();
    Ok(seen.iter().map(|one| view(one, now)).collect())
}

pub(super) fn view(seen: &ops::FollowedTask, now: Millis) -> Followed {
    Followed::new((&seen.task, seen.run.as_ref()), seen.obstacle.as_ref(), now)
}
