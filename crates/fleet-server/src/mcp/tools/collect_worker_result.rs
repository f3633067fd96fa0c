use fleet_api::verbs::run_result;

use super::prelude::*;
use crate::mcp::collected::CollectedResult;
use crate::mcp::worker;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The worker
    worker_id: String,
    /// Also the end of what the agent printed
    include_logs: Option<bool>,
    /// How many lines of it; 80 if left out, 2000 at most
    log_tail_lines: Option<i64>,
    /// Make its files available again if it has ended: worktree_path is then a clone with its branch
    worktree: Option<bool>,
}

const DEFAULT_LINES: i64 = 80;
const MAX_LINES: i64 = 2_000;

impl Tool for Args {
    type Answer = CollectedResult;
    const TITLE: &'static str = "Collect a result";
    const ABOUT: &'static str = "The result of a worker: its summary, and the commits and files that git shows. \
        Use it when wait reports that the worker has finished; while it runs, result is null. Use include_logs \
        to find out why one failed.";
    const NATURE: Nature = Nature::Reads;
    const UNKNOWN: Unknown = Unknown::LeftOut;

    async fn run(self, call: Call) -> Outcome<CollectedResult> {
        let task = worker::seen(&call, &self.worker_id).await?;
        let mut worker = worker::one(&call, task).await?;
        if self.worktree.unwrap_or_default() {
            worker = worker::with_worktree(&call, worker).await?;
        }
        let found = match &worker.run_id {
            Some(run) => {
                let request = run_result::Request { id: run.clone() };
                fleet_api::call(&call, None, &request).await?.result
            }
            None => None,
        };
        let mut collected = CollectedResult::new(worker, found.as_ref())?;
        if self.include_logs.unwrap_or_default() {
            let lines = self.log_tail_lines.unwrap_or(DEFAULT_LINES).clamp(0, MAX_LINES);
            collected.read_logs(&call, lines.try_into().unwrap_or_default()).await?;
        }
        Ok(collected)
    }
}
