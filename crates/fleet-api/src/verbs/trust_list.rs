use crate::prelude::*;
use crate::verbs::trust_show;

/// Lists everything that the user approved, in all projects.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {}

/// Consent to a setting or a file of a project.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ConsentView {
    /// The project: its git common dir.
    pub project: String,
    /// To what, as a number.
    pub hash: String,
    /// The key of the setting; null for files, and if an earlier version kept it.
    pub setting: Option<String>,
    /// The file, if it is one; null for settings.
    pub file: Option<String>,
    /// A SHA-256 of what is in the file; null for settings, and if an earlier version kept it.
    pub content: Option<String>,
    /// When it was given.
    pub at: Moment,
}

/// Everything that the user approved.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The oldest first.
    pub trusted: Vec<ConsentView>,
    /// The project of the directory, if it is in one.
    pub here: Option<trust_show::Answer>,
}

verb!("trust.list", Request => Answer, Reads, People);
