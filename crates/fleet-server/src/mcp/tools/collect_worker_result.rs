//! `collect_worker_result`

use fleet_api::verbs::run_logs::Stream;
use fleet_api::verbs::run_result;
use fleet_core::problem::Outcome;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Nature, Tool};
use crate::mcp::open::Open;
use crate::mcp::tail::{self, Tail};
use crate::mcp::worker::{self, Worker};

pub(super) struct This;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The worker
    worker_id: String,
    /// Also the end of what the agent printed
    #[serde(default)]
    include_logs: Option<bool>,
    /// So many lines of it; 80 if left out
    #[serde(default)]
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

impl Tool for This {
    type Args = Args;
    type Answer = Answer;
    const TITLE: &'static str = "Collect a result";
    const ABOUT: &'static str = "What came out of a worker: its summary, and the commits and files that git shows. Use it when wait says that the \
         worker is over; while it works, result is null. With include_logs to find out why one failed.";
    const NATURE: Nature = Nature::Reads;

    async fn run(call: Call, args: Args) -> Outcome<Answer> {
        let engine = call.engine().await?;
        let task = worker::seen(&engine, &args.worker_id).await?;
        let worker = worker::one(&engine, task).await?;
        let found = match &worker.run_id {
            Some(run) => {
                let request = run_result::Request { id: run.clone() };
                fleet_api::call(&engine, None, &request).await?.result
            }
            None => None,
        };
        let result = found.as_ref().map(Open::result).transpose()?;
        let result_error = (result.is_none() && worker.over).then(|| missing(&worker));
        let (mut stdout_tail, mut stderr_tail) = (None, None);
        if let (true, Some(run)) = (args.include_logs.unwrap_or_default(), worker.run_id.clone()) {
            let lines = args.log_tail_lines.unwrap_or(USUAL_LINES);
            let end = |stream| tail::end(&engine, Tail { run: &run, stream, lines });
            (stdout_tail, stderr_tail) = (Some(end(Stream::Out).await?), Some(end(Stream::Err).await?));
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
