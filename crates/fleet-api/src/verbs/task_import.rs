use crate::prelude::*;

/// Imports tasks from JSON lines, or from issues that another tracker exported: all or none.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Give every task a new id, also those that come with one
    #[arg(long)]
    #[serde(default)]
    pub new_ids: bool,
    /// Check the file, change nothing
    #[arg(long)]
    #[serde(default)]
    pub dry_run: bool,
    /// What the file is [default: recognised by its content]
    #[arg(long, value_name = "FORMAT")]
    #[serde(default)]
    pub format: Option<ImportFormat>,
    /// One JSON object per line, where empty lines are skipped; or what another tracker exported.
    #[arg(skip)]
    pub text: String,
}

/// Whose export a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ImportFormat {
    /// `fleet task export`, or JSON lines by hand
    Fleet,
    /// `bd export`: JSON lines
    Beads,
    /// `gh issue list --json number,title,body,state,labels,url`
    Github,
    /// `glab issue list --output json`, or GitLab's CSV
    Gitlab,
    /// Linear's CSV, or JSON of its API
    Linear,
    /// A checklist: `- [ ] Title`
    Markdown,
}

/// What was imported.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The new tasks, in the order of the lines.
    pub ids: Vec<TaskId>,
    /// What the file was taken for.
    pub format: ImportFormat,
    /// Issues that were imported before.
    pub skipped: usize,
    /// Whether nothing was changed on purpose.
    pub dry_run: bool,
}

verb!("task.import", Request => Answer, Adds, Own);
