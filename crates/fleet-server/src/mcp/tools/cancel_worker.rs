use fleet_api::verbs::task_cancel::Request;

use super::prelude::*;
use crate::mcp::status::{self, WorkerStatus};
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
    const ABOUT: &'static str = "Stops a worker and all its processes, and returns when it has ended. Its work \
        so far is committed to its branch. Refused if it has already finished.";
    const NATURE: Nature = Nature::Ends;

    async fn run(self, call: Call) -> Outcome<Worker> {
        let task = worker::seen(&call, &self.worker_id).await?;
        let now = worker::one(&call, task).await?;
        if !matches!(now.status, WorkerStatus::Pending | WorkerStatus::Running) {
            let message = format!("Worker {task} is already terminal ({})", status::name(now.status));
            return Err(Problem::new(Code::IllegalTransition, message)
                .hint("collect_worker_result shows its result; cleanup_worker removes it"));
        }
        let remark = Some("Cancelled by user".to_owned());
        fleet_api::call(&call, None, &Request { ids: vec![task.to_string()], remark }).await?;
        worker::one(&call, task).await
    }
}
