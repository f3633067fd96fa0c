use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Subject;
use crate::verb::verb;
use crate::views::WorkflowDetail;

/// Tries again what is not done of a workflow, or does a stage and all that build on it once more.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The workflow: its id or the beginning of that, or its name if only one has it
    pub id: String,
    /// Do this stage once more, and all that build on it
    #[arg(long, value_name = "STAGE")]
    pub from: Option<String>,
}

verb!("workflow.retry", Request => WorkflowDetail, Adds, Own, |request| vec![Subject::Workflow(&mut request.id)]);
