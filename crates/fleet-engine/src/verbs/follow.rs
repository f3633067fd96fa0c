//! Waits for tasks: how they stand, and when that changes.

use std::time::Duration;

use fleet_core::id::TaskId;
use fleet_core::problem::Outcome;
use fleet_core::run::Run;
use fleet_core::task::TaskState;
use fleet_core::time::Millis;
use fleet_host::process::Identity;
use fleet_store::{Watch, ops};
use serde::Serialize;

use crate::views::{RunView, TaskView};
use crate::{Engine, problems};

/// A task that somebody waits for.
#[derive(Debug, Clone, Serialize)]
pub struct Followed {
    /// The task.
    #[serde(flatten)]
    pub task: TaskView,
    /// Its newest run.
    pub run: Option<RunView>,
    /// The last thing that the agent of this run said, in a few words.
    #[serde(skip)]
    pub activity: Option<String>,
    /// How far the agent of this run says that it is, of a hundred.
    #[serde(skip)]
    pub percent: Option<u8>,
    /// The branch that its work goes to, chosen or not.
    #[serde(skip)]
    pub to: String,
    /// The process that keeps this run, while it lives.
    #[serde(skip)]
    pub keeper: Option<i32>,
}

impl Followed {
    pub(super) fn new(seen: &ops::FollowedTask, now: Millis) -> Self {
        let ops::FollowedTask { task, run, obstacle } = seen;
        let of_run = run.as_ref().and_then(|run| run.branch.clone());
        let to = of_run.or_else(|| task.spec.branch.as_ref().map(ToString::to_string));
        Self {
            task: TaskView::new(task, now).behind(obstacle.as_ref()),
            run: run.as_ref().map(RunView::from),
            activity: run.as_ref().and_then(|run| run.activity.clone()),
            percent: run.as_ref().and_then(|run| run.percent),
            keeper: run.as_ref().filter(|run| run.state.is_live()).and_then(keeper),
            to: to.unwrap_or_else(|| format!("fleet/{}", task.id)),
        }
    }

    /// Whether nothing more happens to it unless a person acts.
    pub fn is_over(&self) -> bool {
        let waits_for_a_person = matches!(self.task.state, TaskState::Waiting | TaskState::Held);
        let is_doomed = self.task.obstacle.as_ref().is_some_and(|obstacle| obstacle.needs_a_person);
        self.task.state.is_settled() || waits_for_a_person || is_doomed
    }

    /// Whether it is done.
    pub fn is_done(&self) -> bool {
        self.task.state == TaskState::Done
    }
}

/// The number of the process that keeps a run.
fn keeper(run: &Run) -> Option<i32> {
    let keeper: Identity = serde_json::from_str(run.keeper.as_deref()?).ok()?;
    Some(keeper.pid)
}

/// Somebody who waits for some tasks.
pub struct Follow<'a> {
    engine: &'a Engine,
    watch: Watch,
    ids: Vec<TaskId>,
}

impl<'a> Follow<'a> {
    /// Begins. What changes from now on rings, so the first look comes after this.
    pub async fn start(engine: &'a Engine, ids: Vec<TaskId>) -> Outcome<Self> {
        let watch = engine.store().await?.watch().await.map_err(problems::store)?;
        Ok(Self { engine, watch, ids })
    }

    /// How they stand, in the order in which they were named; those that were deleted are left out.
    pub async fn look(&self) -> Outcome<Vec<Followed>> {
        let seen = self.engine.call(ops::FollowTasks { ids: self.ids.clone() }).await?;
        let now = self.engine.now();
        Ok(seen.iter().map(|one| Followed::new(one, now)).collect())
    }

    /// Waits until anything in the store changed, at most for `longest`.
    pub async fn changed(&self, longest: Duration) {
        self.watch.changed(longest).await;
    }
}
