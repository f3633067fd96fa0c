use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verb::verb;

/// Takes a value out of a configuration file, and keeps the rest of it as it is.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The name of the setting.
    pub key: String,
    /// From the file of the directory's repository instead of the user's own.
    #[serde(default)]
    pub in_project: bool,
}

/// What was done.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The name of the setting.
    pub key: String,
    /// Whether it was there.
    pub removed: bool,
    /// The file.
    pub path: String,
}

verb!("config.unset", Request => Answer, Ends, People);
