use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verb::verb;

/// Counts the files of the checkout that are not committed, which work that starts from its commit has not got.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {}

/// How many there are.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// Nothing where there are none, and where it takes too long to tell.
    pub files: Option<usize>,
}

verb!("project.uncommitted", Request => Answer, Reads, Project);
