use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An existing branch that new work goes on with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExistingBranchView {
    pub branch: String,
    /// Where it is.
    pub commit: String,
    /// The remote-tracking branch that it is made from, such as `origin/feature`, if there is no local one.
    pub remote: Option<String>,
    /// How many commits it has that the main branch has not.
    pub ahead: Option<u64>,
    /// The name of the main branch.
    pub ahead_of: Option<String>,
}
