use crate::prelude::*;
use crate::views::WorkflowDetail;

/// Retries what is not done of a workflow, or reruns a stage and everything that builds on it.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The workflow: its id or a prefix of it, or its name if that is unique
    pub id: String,
    /// Rerun this stage, and everything that builds on it
    #[arg(long, value_name = "STAGE")]
    pub from: Option<String>,
}

verb!("workflow.retry", Request => WorkflowDetail, Adds, Own, |request| vec![Subject::Workflow(&mut request.id)]);
