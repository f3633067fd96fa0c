use fleet_core::problem::{Code, Problem};

use crate::prelude::*;
use crate::views::WorkflowView;

/// Cancels workflows: starts nothing new and stops running stages. All of them, or none if one has already finished.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The workflows: ids, prefixes of ids, or unique names
    #[arg(required = true, value_name = "ID")]
    pub ids: Vec<String>,
    /// Reason, shown to others
    #[arg(short = 'm', long, value_name = "TEXT")]
    pub remark: Option<String>,
    /// Whether to wait until all of them have stopped.
    #[arg(skip)]
    pub wait: bool,
    /// Only say which are meant.
    #[arg(skip)]
    pub dry_run: bool,
}

/// What happened to them.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// In the order in which they were named.
    pub workflows: Vec<Cancelled>,
}

/// What became of one: its stages by name.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Cancelled {
    #[serde(flatten)]
    pub workflow: WorkflowView,
    /// Their agents were stopped.
    pub stopped: Vec<String>,
    /// They were not running, and will not start.
    pub unstarted: Vec<String>,
    /// They had come to an end before.
    pub over: Vec<String>,
    /// They were asked to stop, and have not ended yet.
    pub going_on: Vec<String>,
}

impl From<WorkflowView> for Cancelled {
    fn from(workflow: WorkflowView) -> Self {
        let nothing = Vec::new;
        Self { workflow, stopped: nothing(), unstarted: nothing(), over: nothing(), going_on: nothing() }
    }
}

impl Answer {
    /// The problem with what is still running, for callers that waited for its end.
    pub fn problem(&self) -> Option<Problem> {
        let one = self.workflows.iter().find(|one| !one.going_on.is_empty())?;
        let id = one.workflow.id;
        let message = format!("workflow {id} has not finished: {} is still running", one.going_on.join(", "));
        Some(
            Problem::new(Code::KillIncomplete, message)
                .hint(format!("it was asked to stop; `fleet workflow cancel {id}` waits again"))
                .hint("`fleet start` takes care of a keeper that is stuck"),
        )
    }
}

verb!("workflow.cancel", Request => Answer, Ends, Own, |request| Subject::workflows(&mut request.ids));
