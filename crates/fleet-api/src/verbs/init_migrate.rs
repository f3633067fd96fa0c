use crate::prelude::*;

/// Takes over the settings and tasks of other tools of this kind, each with a backup.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// Only show what would be taken over.
    pub dry_run: bool,
}

/// What was taken over, or would be.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// One for each file or folder of another tool; empty if there is none.
    pub steps: Vec<Step>,
    pub dry_run: bool,
}

/// What becomes of one file or folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// The file or folder of the other tool.
    pub from: String,
    /// The file of ours that has it now; nothing if it was left as it is.
    pub to: Option<String>,
    /// Where the other tool's file is now.
    pub backup: Option<String>,
    /// The settings that were taken over, as they stand in the file.
    pub settings: Vec<String>,
    /// How many tasks were taken over.
    pub tasks: usize,
    /// What was not taken over, and why.
    pub remarks: Vec<String>,
}

verb!("init.migrate", Request => Answer, Adds, People);
