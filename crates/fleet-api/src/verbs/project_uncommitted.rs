use crate::prelude::*;

/// Counts the files of the checkout that are not committed, that new work will not include.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {}

/// How many there are.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// Nothing where there are none, and where counting takes too long.
    pub files: Option<usize>,
}

verb!("project.uncommitted", Request => Answer, Reads, Project);
