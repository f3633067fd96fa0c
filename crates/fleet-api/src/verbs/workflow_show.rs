use crate::prelude::*;
use crate::views::WorkflowDetail;

/// Shows one workflow with its stages, and waits until that changes.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The workflow: its id or a prefix of it, or its name if that is unique
    pub id: String,
    /// How closely to look.
    #[arg(skip)]
    pub depth: Depth,
    /// `next` of the answer before: wait until it changes.
    #[arg(skip)]
    pub after: Option<String>,
    /// How long to wait; not at all, if left out.
    #[arg(skip)]
    pub wait_seconds: Option<u32>,
}

/// How closely to look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Depth {
    /// The state of everything.
    #[default]
    States,
    /// What all attempts used, too; otherwise that of the newest is shown.
    Usage,
    /// Its results, too: the final messages of its agents may be long.
    Results,
}

/// Its state.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The workflow and its stages.
    pub workflow: WorkflowDetail,
    /// Identifies this answer in the next request.
    pub next: String,
}

verb!("workflow.show", Request => Answer, Reads, Own, |request| vec![Subject::Workflow(&mut request.id)]);
