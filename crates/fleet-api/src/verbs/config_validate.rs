use fleet_core::problem::Problem;

use crate::prelude::*;

/// Checks all configuration files and variables, and lists everything that is wrong.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {}

/// Everything that there is to say about the configuration.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// What keeps it from being used, in the order of the layers.
    pub problems: Vec<Problem>,
    /// What is probably a mistake.
    pub warnings: Vec<String>,
    /// The files that exist and were looked at.
    pub files: Vec<String>,
}

verb!("config.validate", Request => Answer, Reads, People);
