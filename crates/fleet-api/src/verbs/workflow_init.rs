use crate::prelude::*;
use crate::views::FileFormat;

/// Returns the text of a starter workflow, for the caller to write to a file.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// Which of them; the first, if left out.
    pub name: Option<String>,
    /// How it is written; TOML, if left out.
    pub format: Option<FileFormat>,
    /// Whether it is for the directory's repository: then the answer has the folder of that.
    pub for_repository: bool,
}

/// The workflow.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// What it is called.
    pub name: String,
    /// How it is written.
    pub format: FileFormat,
    /// What the file is to say.
    pub text: String,
    /// The folder of the repository's own workflows, which need not exist.
    pub folder: Option<String>,
    /// All that come with codefleet.
    pub shipped: Vec<ShippedWorkflow>,
}

/// A workflow that comes with codefleet.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ShippedWorkflow {
    /// What it is called.
    pub name: String,
    /// What it does.
    pub about: String,
}

verb!("workflow.init", Request => Answer, Reads, All);
