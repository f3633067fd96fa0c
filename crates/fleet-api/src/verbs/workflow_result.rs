use fleet_core::report::Verdict;
use fleet_core::workflow::PartState;

use crate::prelude::*;
use crate::views::{WorkflowDetail, WorkflowView};

/// Shows the results of a workflow, and how to merge them.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The workflow: its id or a prefix of it, or its name if that is unique
    pub id: String,
    /// The results of all stages
    #[arg(long, conflicts_with = "stage")]
    pub all: bool,
    /// The result of this stage
    #[arg(long, value_name = "NAME")]
    pub stage: Option<String>,
    /// Also the state of the workflow and its stages at the same moment.
    #[arg(skip)]
    pub detail: bool,
}

/// The results.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The workflow.
    #[serde(flatten)]
    pub workflow: WorkflowView,
    /// The results of the requested stages.
    pub results: Vec<StageResult>,
    /// What was judged last.
    pub verdict: Option<Verdict>,
    /// The winner that a judge named.
    pub winner: Option<Winner>,
    /// The branches that hold the result: those of the last stages, or what a judge among these chose.
    pub branches: Vec<String>,
    /// What to do next, most useful first; commands in backquotes.
    pub next: Vec<String>,
    /// The state of the workflow and its stages, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<WorkflowDetail>,
}

/// The result of one stage.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct StageResult {
    pub name: String,
    pub state: PartState,
    pub why: Option<String>,
    pub task: Option<TaskId>,
    pub run: Option<RunId>,
    pub agent: Option<String>,
    pub branch: Option<String>,
    pub verdict: Option<Verdict>,
    pub items: Vec<String>,
    /// In the shape of `result.json`.
    pub result: Option<serde_json::Value>,
    /// Whether this is the result of the workflow, or a part of it.
    pub last: bool,
}

/// The winner that a judge named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Winner {
    /// The stage.
    pub stage: String,
    /// Its branch, if the name is that of a stage which left work on one.
    pub branch: Option<String>,
    /// The stage that says so.
    pub by: String,
}

verb!("workflow.result", Request => Answer, Reads, Own, |request| vec![Subject::Workflow(&mut request.id)]);
