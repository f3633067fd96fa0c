use std::path::PathBuf;

use fleet_core::id::RunId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Subject;
use crate::verb::verb;

/// Tells in which folder the agent of a run works.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The run: its id, the id of its task, or its branch
    pub id: String,
}

/// The folder of a run.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "docs/json.md describes each field")]
pub struct Answer {
    pub run: RunId,
    pub branch: Option<String>,
    pub workspace: PathBuf,
}

verb!("run.open", Request => Answer, Reads, Own, |request| vec![Subject::Run(&mut request.id)]);
