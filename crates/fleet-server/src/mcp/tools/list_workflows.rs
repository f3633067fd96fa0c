use fleet_api::verbs::workflow_list::Request;
use fleet_api::verbs::workflow_show::Depth;

use super::prelude::*;
use crate::mcp::status::{self, WorkflowStatus};
use crate::mcp::workflow::{self, WorkflowAnswer};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// Only workflows of these statuses (running, succeeded, failed, cancelled); all if left out
    statuses: Option<Vec<String>>,
    /// At most this many; 25 if left out, all if negative
    limit: Option<i64>,
    /// next_cursor of the page before
    cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    /// Newest first
    workflows: Vec<WorkflowAnswer>,
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
const PAGE_SIZE: u32 = 100;

impl Tool for Args {
    type Answer = Answer;
    const TITLE: &'static str = "List workflows";
    const ABOUT: &'static str = "The workflows of all repositories, newest first, a page at a time. Use it to find workflows of earlier sessions; for \
         one that you started, use wait.";
    const NATURE: Nature = Nature::Reads;
    const UNKNOWN: Unknown = Unknown::LeftOut;

    async fn run(self, call: Call) -> Outcome<Answer> {
        let names = self.statuses.unwrap_or_default();
        let (statuses, notes) = status::named::<WorkflowStatus>(&names);
        let states: Vec<String> =
            statuses.iter().flat_map(|status| status.states()).map(|state| state.to_string()).collect();
        // A filter that no workflow matches must not mean no filter.
        let nothing = !names.is_empty() && states.is_empty();
        let mut left = if nothing { 0 } else { status::limit(self.limit.unwrap_or(DEFAULT_LIMIT)) };
        let (mut seen, mut before) = (Vec::new(), self.cursor);
        while left > 0 {
            let limit = Some(PAGE_SIZE.min(left.try_into().unwrap_or(PAGE_SIZE)));
            let request = Request { states: states.clone(), all: true, all_projects: true, limit, before };
            let page = fleet_api::call(&call, None, &request).await?;
            for listed in &page.workflows {
                seen.push(workflow::look(&call, listed.id.as_str(), Depth::Usage).await?);
            }
            left = left.saturating_sub(page.workflows.len());
            before = page.next.map(|next| next.to_string());
            if before.is_none() {
                break;
            }
        }
        let workflows = workflow::shown(&call, &seen).await?;
        let summary = workflow::summary(&workflows);
        Ok(Answer { count: workflows.len(), summary, workflows, next_cursor: before, notes })
    }
}
