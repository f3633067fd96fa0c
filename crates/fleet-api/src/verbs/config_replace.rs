use crate::prelude::*;

/// Replaces a configuration file with an edited text, if that is valid and the file has not changed.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The file of the directory's repository instead of the user's own.
    #[serde(default)]
    pub in_project: bool,
    /// What was in it before; null if there was no file.
    pub before: Option<String>,
    /// What is to be in it.
    pub after: String,
}

/// What was done.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The file.
    pub path: String,
}

verb!("config.replace", Request => Answer, Adds, People);
