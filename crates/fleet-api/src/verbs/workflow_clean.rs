use fleet_core::id::WorkflowId;

use crate::prelude::*;
use crate::views::{Kept, Leftover, WorkflowView};

/// Removes finished workflows, with the branches and folders of their stages.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The workflows: ids, prefixes of ids, or unique names
    #[arg(value_name = "ID", required_unless_present = "all_finished")]
    pub ids: Vec<String>,
    /// All finished ones of this repository
    #[arg(long, conflicts_with = "ids")]
    pub all_finished: bool,
    /// Include branches that have not landed; `fleet undo` restores them
    #[arg(long)]
    pub discard: bool,
    /// Only say what would go.
    #[arg(skip)]
    pub dry_run: bool,
    /// Only what an answer before this one showed, and what has not changed since; everything, if left out.
    #[arg(skip)]
    pub confirmed: Option<Vec<Leftover>>,
}

/// What is gone, or would be.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// Whether nothing was removed on purpose.
    pub dry_run: bool,
    /// The workflows that are gone. One of which a branch stays is needed to find that again.
    pub deleted: Vec<WorkflowId>,
    /// The branches and folders that are gone.
    pub removed: Vec<Leftover>,
    /// What stays, and why.
    pub kept: Vec<Kept>,
    /// All workflows that are meant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workflows: Vec<WorkflowView>,
}

verb!("workflow.clean", Request => Answer, Ends, Own, |request| Subject::workflows(&mut request.ids));
