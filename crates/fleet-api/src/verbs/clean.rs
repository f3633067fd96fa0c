use crate::prelude::*;
use crate::views::{Kept, Leftover};

/// Removes the branches and folders of runs whose work has landed. An agent can do so for what comes from its own task.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// Only these: ids, branches, batches or patterns such as 'login-*' [default: all finished runs of the repository]
    #[arg(value_name = "ID")]
    pub tasks: Vec<String>,
    /// Include finished work that has not landed; `fleet undo` restores it
    #[arg(long)]
    pub all: bool,
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
    /// What is gone, or would be.
    pub removed: Vec<Leftover>,
    /// What stays, and why.
    pub kept: Vec<Kept>,
}

verb!("clean", Request => Answer, Ends, Own, |request| Subject::tasks(&mut request.tasks));
