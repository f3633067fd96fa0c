use fleet_api::verbs::task_recent::Request;
use fleet_core::problem::Outcome;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Nature, Tool};
use crate::mcp::status::WorkerStatus;
use crate::mcp::worker::{self, Worker};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// Only workers of these statuses; all if left out
    statuses: Option<Vec<WorkerStatus>>,
    /// So many at most; 25 if left out
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
    /// next_cursor of the page before
    cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    /// Newest first
    workers: Vec<Worker>,
    count: usize,
    summary: String,
    /// For the next page; null on the last one
    next_cursor: Option<String>,
}

const USUAL: u32 = 25;

impl Tool for Args {
    type Answer = Answer;
    const TITLE: &'static str = "List workers";
    const ABOUT: &'static str = "The workers of all repositories, newest first, a page at a time. Use it to find workers of earlier sessions; for \
         ones that you started, use wait.";
    const NATURE: Nature = Nature::Reads;

    async fn run(self, call: Call) -> Outcome<Answer> {
        let statuses = self.statuses.unwrap_or_default();
        let kinds: Vec<_> = statuses.iter().flat_map(|status| status.kinds()).collect();
        // No task is ever in the one status that has no kinds.
        let nothing = !statuses.is_empty() && kinds.is_empty();
        let limit = if nothing { 0 } else { self.limit.unwrap_or(USUAL) };
        let request = Request { kinds, after: self.cursor, limit };
        let page = fleet_api::call(&call, None, &request).await?;
        let ids: Vec<_> = page.tasks.iter().map(|task| task.task.id).collect();
        let workers = worker::shown(&call, &ids).await?;
        let next_cursor = page.next.map(|next| next.to_string());
        Ok(Answer { count: workers.len(), summary: worker::summary(&workers), workers, next_cursor })
    }
}
