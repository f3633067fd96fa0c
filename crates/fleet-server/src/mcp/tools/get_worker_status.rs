use fleet_core::problem::Outcome;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Call, Nature, Tool};
use crate::mcp::worker::{self, Worker};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The id from create_worker; its beginning, a run id or a branch will do
    worker_id: String,
}

impl Tool for Args {
    type Answer = Worker;
    const TITLE: &'static str = "Look at a worker";
    const ABOUT: &'static str = "How one worker stands right now: status, what its agent is doing, cost. To wait for its end, use wait instead \
         of calling this again and again; for the outcome, use collect_worker_result.";
    const NATURE: Nature = Nature::Reads;

    async fn run(self, call: Call) -> Outcome<Worker> {
        let task = worker::seen(&call, &self.worker_id).await?;
        worker::one(&call, task).await
    }
}
