use fleet_api::verbs::workflow_cancel::Request;
use fleet_api::verbs::workflow_show::Depth;

use super::prelude::*;
use crate::mcp::answer::lost;
use crate::mcp::status;
use crate::mcp::workflow::{self, WorkflowAnswer};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The workflow to end
    workflow_id: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    #[serde(flatten)]
    workflow: WorkflowAnswer,
    /// Stages whose agents were stopped
    stopped: Vec<String>,
    /// Stages that had not begun, and will not
    unstarted: Vec<String>,
}

impl Tool for Args {
    type Answer = Answer;
    const TITLE: &'static str = "Cancel a workflow";
    const ABOUT: &'static str = "Stops a workflow and all processes of its stages, and returns when they have \
        ended. Work so far is committed to the branches of its stages. Refused if it has already finished. To \
        stop one stage only, use cancel_worker with its worker_id: the workflow then treats it as failed.";
    const NATURE: Nature = Nature::Ends;

    async fn run(self, call: Call) -> Outcome<Answer> {
        let seen = workflow::look(&call, &self.workflow_id, Depth::Usage).await?;
        let id = seen.workflow.id;
        let now = workflow::one(&call, seen).await?;
        if now.completed_at.is_some() {
            let message = format!("Workflow {id} is already terminal ({})", status::name(now.status));
            return Err(Problem::new(Code::IllegalTransition, message)
                .hint("collect_workflow_result shows its result; cleanup_workflow removes it"));
        }
        let remark = Some("Cancelled by user".to_owned());
        let request = Request { ids: vec![id.to_string()], remark, wait: true, dry_run: false };
        let done = fleet_api::call(&call, None, &request).await?;
        if let Some(problem) = done.problem() {
            return Err(problem);
        }
        let one = done.workflows.into_iter().next().ok_or_else(|| lost("the workflow"))?;
        let seen = workflow::look(&call, id.as_str(), Depth::Results).await?;
        let workflow = workflow::one(&call, seen).await?;
        Ok(Answer { workflow, stopped: one.stopped, unstarted: one.unstarted })
    }
}
