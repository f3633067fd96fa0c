use fleet_api::verbs::task_recent::Request;

use super::prelude::*;
use crate::mcp::status::{self, WorkerStatus};
use crate::mcp::worker::{self, Worker};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// Only workers of these statuses (pending, running, succeeded, failed, cancelled, timed_out); all if left out
    statuses: Option<Vec<String>>,
    /// At most this many; 25 if left out, all if negative
    limit: Option<i64>,
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
    /// What was not understood
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

const DEFAULT_LIMIT: i64 = 25;
/// How many are read at once.
const PAGE_SIZE: u32 = 200;

impl Tool for Args {
    type Answer = Answer;
    const TITLE: &'static str = "List workers";
    const ABOUT: &'static str = "The workers of all repositories, newest first, a page at a time. Use it to find workers of earlier sessions; for \
         ones that you started, use wait.";
    const NATURE: Nature = Nature::Reads;
    const UNKNOWN: Unknown = Unknown::LeftOut;

    async fn run(self, call: Call) -> Outcome<Answer> {
        let names = self.statuses.unwrap_or_default();
        let (statuses, notes) = status::named::<WorkerStatus>(&names);
        let kinds: Vec<_> = statuses.iter().flat_map(|status| status.kinds()).collect();
        // A filter that no worker matches must not mean no filter.
        let nothing = !names.is_empty() && kinds.is_empty();
        let mut left = if nothing { 0 } else { status::limit(self.limit.unwrap_or(DEFAULT_LIMIT)) };
        let (mut workers, mut after) = (Vec::new(), self.cursor);
        while left > 0 {
            let limit = PAGE_SIZE.min(left.try_into().unwrap_or(PAGE_SIZE));
            let request = Request { kinds: kinds.clone(), after, limit };
            let page = fleet_api::call(&call, None, &request).await?;
            let ids: Vec<_> = page.tasks.iter().map(|task| task.task.id).collect();
            workers.extend(worker::shown(&call, &ids).await?);
            left = left.saturating_sub(ids.len());
            after = page.next.map(|next| next.to_string());
            if after.is_none() {
                break;
            }
        }
        let summary = worker::summary(&workers);
        Ok(Answer { count: workers.len(), summary, workers, next_cursor: after, notes })
    }
}
