use super::prelude::*;
use crate::mcp::worker::{self, Worker};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The id from create_worker; its beginning, a run id or a branch will do
    worker_id: String,
    /// Make its files available again if it has ended: worktree_path is then a clone with its branch
    worktree: Option<bool>,
}

impl Tool for Args {
    type Answer = Worker;
    const TITLE: &'static str = "Look at a worker";
    const ABOUT: &'static str = "The state of one worker right now: status, what its agent is doing, cost. To \
        wait for its end, use wait instead of polling; for the outcome, use collect_worker_result.";
    const NATURE: Nature = Nature::Reads;
    const UNKNOWN: Unknown = Unknown::LeftOut;

    async fn run(self, call: Call) -> Outcome<Worker> {
        let task = worker::seen(&call, &self.worker_id).await?;
        let worker = worker::with_start(&call, worker::one(&call, task).await?).await?;
        if self.worktree.unwrap_or_default() {
            worker::with_worktree(&call, worker).await
        } else {
            Ok(worker)
        }
    }
}
