use fleet_api::verbs::run_result;
use fleet_core::problem::Outcome;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Nature, Tool};
use crate::mcp::open::Open;
use crate::mcp::tail;
use crate::mcp::worker::{self, Worker};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The worker
    worker_id: String,
    /// Also the end of what the agent printed
    include_logs: Option<bool>,
    /// So many lines of it; 80 if left out
    #[schemars(range(min = 1, max = 2000))]
    log_tail_lines: Option<u32>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    #[serde(flatten)]
    worker: Worker,
    /// status, summary, files_changed, commits, tests (command, status, details), next_steps; files and commits as git shows them, not as claimed. Null
    /// while it works
    result: Option<Open>,
    /// Why there is no result although the worker is over
    result_error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stdout_tail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stderr_tail: Option<String>,
}

const USUAL_LINES: u32 = 80;

impl Tool for Args {
    type Answer = Answer;
    const TITLE: &'static str = "Collect a result";
    const ABOUT: &'static str = "What came out of a worker: its summary, and the commits and files that git shows. Use it when wait says that the \
         worker is over; while it works, result is null. With include_logs to find out why one failed.";
    const NATURE: Nature = Nature::Reads;

    async fn run(self, call: Call) -> Outcome<Answer> {
        let task = worker::seen(&call, &self.worker_id).await?;
        let worker = worker::one(&call, task).await?;
        let found = match &worker.run_id {
            Some(run) => {
                let request = run_result::Request { id: run.clone() };
                fleet_api::call(&call, None, &request).await?.result
            }
            None => None,
        };
        let result = found.as_ref().map(Open::result).transpose()?;
        let result_error = (result.is_none() && worker.over).then(|| missing(&worker));
        let (mut stdout_tail, mut stderr_tail) = (None, None);
        if let (true, Some(run)) = (self.include_logs.unwrap_or_default(), worker.run_id.clone()) {
            let lines = self.log_tail_lines.unwrap_or(USUAL_LINES);
            (stdout_tail, stderr_tail) = tail::of_both(&call, &run, lines).await?;
        }
        Ok(Answer { worker, result, result_error, stdout_tail, stderr_tail })
    }
}

fn missing(worker: &Worker) -> String {
    match &worker.run_id {
        None => "it never started".to_owned(),
        Some(run) => format!("run {run} ended without a result"),
    }
}
