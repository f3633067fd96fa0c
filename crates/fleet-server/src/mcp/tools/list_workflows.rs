use fleet_api::verbs::workflow_list::Request;
use fleet_api::verbs::workflow_show::Depth;
use fleet_core::problem::Outcome;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Nature, Tool};
use crate::mcp::status::WorkflowStatus;
use crate::mcp::workflow::{self, Workflow};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// Only workflows of these statuses; all if left out
    statuses: Option<Vec<WorkflowStatus>>,
    /// So many at most; 25 if left out
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u32>,
    /// next_cursor of the page before
    cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    /// Newest first
    workflows: Vec<Workflow>,
    count: usize,
    summary: String,
    /// For the next page; null on the last one
    next_cursor: Option<String>,
}

const USUAL: u32 = 25;

impl Tool for Args {
    type Answer = Answer;
    const TITLE: &'static str = "List workflows";
    const ABOUT: &'static str = "The workflows of all repositories, newest first, a page at a time. Use it to find workflows of earlier sessions; for \
         one that you started, use wait.";
    const NATURE: Nature = Nature::Reads;

    async fn run(self, call: Call) -> Outcome<Answer> {
        let statuses = self.statuses.unwrap_or_default();
        let states: Vec<String> =
            statuses.iter().flat_map(|status| status.states()).map(|state| state.to_string()).collect();
        // No workflow is ever in the one status that has no states.
        let limit = if !statuses.is_empty() && states.is_empty() { 0 } else { self.limit.unwrap_or(USUAL) };
        let request =
            Request { states, all: true, all_projects: true, limit: Some(limit), before: self.cursor };
        let page = fleet_api::call(&call, None, &request).await?;
        let mut seen = Vec::with_capacity(page.workflows.len());
        for listed in &page.workflows {
            seen.push(workflow::look(&call, listed.id.as_str(), Depth::Usage).await?);
        }
        let workflows = workflow::shown(&call, &seen).await?;
        Ok(Answer {
            count: workflows.len(),
            summary: workflow::summary(&workflows),
            workflows,
            next_cursor: page.next.map(|next| next.to_string()),
        })
    }
}
