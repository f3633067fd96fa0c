use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Subject;
use crate::verb::verb;
use crate::views::WorkflowDetail;

/// Shows one workflow with its stages, and waits until that changes.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The workflow: its id or the beginning of that, or its name if only one has it
    pub id: String,
    /// How closely to look.
    #[arg(skip)]
    pub depth: Depth,
    /// `next` of the answer before: wait until it stands otherwise.
    #[arg(skip)]
    pub after: Option<String>,
    /// Wait at most so long; not at all, if left out.
    #[arg(skip)]
    pub wait_seconds: Option<u32>,
}

/// How closely to look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Depth {
    /// Where everything stands.
    #[default]
    States,
    /// What all attempts used, too; otherwise that of the newest is shown.
    Usage,
    /// What came of it, too: what its agents said in the end may be long.
    Results,
}

/// How it stands.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The workflow and its stages.
    pub workflow: WorkflowDetail,
    /// Stands for this answer in the next request.
    pub next: String,
}

verb!("workflow.show", Request => Answer, Reads, Own, |request| vec![Subject::Workflow(&mut request.id)]);
