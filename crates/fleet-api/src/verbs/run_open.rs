use std::path::PathBuf;

use crate::prelude::*;

/// Returns the workspace of a run; of one that has ended, a clone with its branch.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The run: its id, the id of its task, or its branch
    pub id: String,
}

/// The folder of a run.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    pub run: RunId,
    pub branch: Option<String>,
    pub workspace: PathBuf,
}

verb!("run.open", Request => Answer, Adds, Own, |request| vec![Subject::Run(&mut request.id)]);
