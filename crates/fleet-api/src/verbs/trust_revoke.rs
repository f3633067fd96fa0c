use crate::prelude::*;

/// Revokes everything approved for the project of the directory.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {}

/// What was taken back.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The project: its git common dir.
    pub project: String,
    /// Whether there was anything.
    pub revoked: bool,
}

verb!("trust.revoke", Request => Answer, Ends, People);
