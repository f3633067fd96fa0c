use crate::prelude::*;

/// Reads a configuration file, for an editor.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The file of the directory's repository instead of the user's own.
    pub in_project: bool,
}

/// A file. Without `Debug`, because it may hold passwords.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// Where it is.
    pub path: String,
    /// What is in it; null if there is no file.
    pub text: Option<String>,
    /// What a new file begins with: every setting, commented out.
    pub template: String,
}

verb!("config.text", Request => Answer, Reads, People);
