//! `workflow.retry`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Subject;
use crate::verb::verb;
use crate::views::WorkflowDetail;

/// Tries again what is not done of a workflow, or does a stage and all that build on it once more.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The workflow: its id, the beginning of that, or its name.
    pub id: String,
    /// The stage that is done once more, with all that build on it.
    pub from: Option<String>,
}

verb!("workflow.retry", Request => WorkflowDetail, Adds, Own, |request| vec![Subject::Workflow(&mut request.id)]);
