use std::collections::BTreeSet;

use fleet_api::verbs::workflow_clean::Request;
use fleet_api::verbs::workflow_show::Depth;
use fleet_api::views::Kept;

use super::prelude::*;
use crate::mcp::open::{OpenObject, RenamedField};
use crate::mcp::status::{self, WorkflowStatus};
use crate::mcp::workflow;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// A workflow that has finished
    workflow_id: String,
    /// Remove branches even if their commits have not landed; they are kept as snapshots for `fleet undo`
    discard_unlanded: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    workflow_id: String,
    /// How many stages left nothing behind
    stages_cleaned: usize,
    /// True if the workflow itself is gone; it stays as long as one of its branches does
    workflow_removed: bool,
    branches_removed: Vec<String>,
    /// What stays: worker_id, title, branch_name, why
    kept: Vec<OpenObject>,
    /// What was to go and could not be removed
    errors: Vec<String>,
}

const WORDS: [RenamedField; 2] = [("task", "worker_id"), ("branch", "branch_name")];

impl Tool for Args {
    type Answer = Answer;
    const TITLE: &'static str = "Clean up after a workflow";
    const ABOUT: &'static str = "Removes a workflow with the branches and folders of its stages, once you have its result. Never loses work: what has \
         not landed stays, and the workflow with it, unless discard_unlanded is true, and then the commits are kept as \
         snapshots. Merge what you want first, and clean up again.";
    const NATURE: Nature = Nature::Ends;

    async fn run(self, call: Call) -> Outcome<Answer> {
        let seen = workflow::look(&call, &self.workflow_id, Depth::States).await?.workflow;
        if !seen.state.is_over() {
            let status = status::name(WorkflowStatus::of(seen.state));
            let message = format!("Cannot cleanup non-terminal workflow {} (status: {status})", seen.id);
            return Err(Problem::new(Code::IllegalTransition, message)
                .hint("wait for its end, or end it with cancel_workflow"));
        }
        let discard = self.discard_unlanded.unwrap_or_default();
        let request = Request { ids: vec![seen.id.to_string()], discard, ..Request::default() };
        let done = fleet_api::call(&call, None, &request).await?;
        let kept: BTreeSet<_> = done.kept.iter().map(|kept| kept.task).collect();
        let cleaned: BTreeSet<_> = done.removed.iter().map(|item| item.task).collect();
        Ok(Answer {
            workflow_id: done.workflows.iter().map(|workflow| workflow.id.to_string()).collect(),
            stages_cleaned: cleaned.difference(&kept).count(),
            workflow_removed: !done.deleted.is_empty(),
            branches_removed: done.removed.iter().filter_map(|item| item.branch.clone()).collect(),
            kept: OpenObject::all(&done.kept, &WORDS)?,
            errors: done.kept.iter().filter(|kept| kept.failed).map(error).collect(),
        })
    }
}

fn error(kept: &Kept) -> String {
    let what = kept.branch.clone().unwrap_or_else(|| kept.task.to_string());
    format!("{what}: {}", kept.why)
}
