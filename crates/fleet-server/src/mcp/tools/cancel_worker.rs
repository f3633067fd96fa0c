//! `cancel_worker`

use fleet_api::verbs::task_cancel::Request;
use fleet_core::problem::{Code, Outcome, Problem};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Call, Nature, Tool};
use crate::mcp::worker::{self, Worker, WorkerStatus};

pub(super) struct This;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The worker to end
    worker_id: String,
}

impl Tool for This {
    type Args = Args;
    type Answer = Worker;
    const TITLE: &'static str = "Cancel a worker";
    const ABOUT: &'static str = "Ends a worker that is not wanted any more, with every process of it, and answers when it has ended. What it did \
         so far is committed to its branch. Refused if it is over already.";
    const NATURE: Nature = Nature::Ends;

    async fn run(call: Call, args: Args) -> Outcome<Worker> {
        let engine = call.engine().await?;
        let task = worker::seen(&engine, &args.worker_id).await?;
        let now = worker::one(&engine, task).await?;
        if !matches!(now.status, WorkerStatus::Pending | WorkerStatus::Running) {
            let message = format!("the worker {task} is over already: {}", now.status_label);
            return Err(Problem::new(Code::IllegalTransition, message)
                .hint("collect_worker_result shows what came out of it; cleanup_worker removes it"));
        }
        let remark = Some("Cancelled by user".to_owned());
        fleet_api::call(&engine, None, &Request { ids: vec![task.to_string()], remark }).await?;
        worker::one(&engine, task).await
    }
}
