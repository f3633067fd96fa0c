use fleet_api::verbs::workflow_show::Depth;

use super::prelude::*;
use crate::mcp::workflow::{self, WorkflowAnswer};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The id from create_workflow; its beginning, or the workflow's name if only one has it, will do
    workflow_id: String,
}

impl Tool for Args {
    type Answer = WorkflowAnswer;
    const TITLE: &'static str = "Look at a workflow";
    const ABOUT: &'static str = "The state of one workflow and each of its stages right now. To wait for its \
        end, use wait with workflow_ids instead of polling; for the outcome, use collect_workflow_result.";
    const NATURE: Nature = Nature::Reads;
    const UNKNOWN: Unknown = Unknown::LeftOut;

    async fn run(self, call: Call) -> Outcome<WorkflowAnswer> {
        let seen = workflow::look(&call, &self.workflow_id, Depth::Results).await?;
        workflow::one(&call, seen).await
    }
}
