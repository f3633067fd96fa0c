use fleet_api::verbs::run_prompt;
use fleet_core::message::{MessageKind, Reception};

use super::prelude::*;
use crate::mcp::status::WorkerStatus;
use crate::mcp::wake::ensure_runner;
use crate::mcp::worker::{self, Worker};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The worker
    worker_id: String,
    /// The message
    prompt: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    #[serde(flatten)]
    worker: Worker,
    /// live: passed to the running agent; kept: for its next run; held: for when it is released; reopened: it had finished and
    /// starts again
    reception: String,
}

impl Tool for Args {
    type Answer = Answer;
    const TITLE: &'static str = "Send a message to a worker";
    const ABOUT: &'static str = "Sends a message to a worker: a correction while it runs, or a follow-up after \
        its end, when it resumes on the same branch and, where the agent can, in the same conversation. Cheaper \
        than a new worker that starts from nothing.";
    const NATURE: Nature = Nature::Adds;

    async fn run(self, call: Call) -> Outcome<Answer> {
        let task = worker::seen(&call, &self.worker_id).await?;
        let request =
            run_prompt::Request { id: task.to_string(), text: self.prompt, kind: MessageKind::Prompt };
        let reception = fleet_api::call(&call, None, &request).await?.reception;
        let unattended = ensure_runner(&call).await;
        let reception = match reception {
            Reception::Live => "live",
            Reception::Kept => "kept",
            Reception::Held => "held",
            Reception::Reopened => "reopened",
        };
        let mut worker = worker::one(&call, task).await?;
        if worker.status == WorkerStatus::Pending {
            worker.heartbeat_message = unattended.or(worker.heartbeat_message);
        }
        Ok(Answer { worker, reception: reception.to_owned() })
    }
}
