use fleet_api::verbs::task_cancel::Request;
use fleet_core::problem::{Code, Outcome, Problem};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Call, Nature, Tool};
use crate::mcp::status::WorkerStatus;
use crate::mcp::worker::{self, Worker};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The worker to end
    worker_id: String,
}

impl Tool for Args {
    type Answer = Worker;
    const TITLE: &'static str = "Cancel a worker";
    const ABOUT: &'static str = "Ends a worker that is not wanted any more, with every process of it, and answers when it has ended. What it did \
         so far is committed to its branch. Refused if it is over already.";
    const NATURE: Nature = Nature::Ends;

    async fn run(self, call: Call) -> Outcome<Worker> {
        let task = worker::seen(&call, &self.worker_id).await?;
        let now = worker::one(&call, task).await?;
        if !matches!(now.status, WorkerStatus::Pending | WorkerStatus::Running) {
            let message = format!("the worker {task} is over already: {}", now.status_label);
            return Err(Problem::new(Code::IllegalTransition, message)
                .hint("collect_worker_result shows what came out of it; cleanup_worker removes it"));
        }
        let remark = Some("Cancelled by user".to_owned());
        fleet_api::call(&call, None, &Request { ids: vec![task.to_string()], remark }).await?;
        worker::one(&call, task).await
    }
}
