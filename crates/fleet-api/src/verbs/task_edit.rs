use crate::TaskFields;
use crate::prelude::*;
use crate::views::TaskView;

/// Edits a task. What is left out or empty stays as it is.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The task
    pub id: String,
    /// The title
    #[arg(short, long)]
    pub title: Option<String>,
    /// Add a label; may be repeated
    #[arg(short = 'l', long = "label", value_name = "LABEL", value_delimiter = ',')]
    pub add_labels: Vec<String>,
    /// Remove a label; may be repeated
    #[arg(long = "remove-label", value_name = "LABEL", value_delimiter = ',')]
    pub remove_labels: Vec<String>,
    /// What else changes. Files replace all earlier ones.
    #[command(flatten)]
    #[serde(flatten)]
    pub fields: TaskFields,
    /// Empty a field: description, labels, scope, complexity, agent, model, base, branch, limits, not-before, meta,
    /// batch, read-only
    #[arg(long, value_name = "FIELD", value_delimiter = ',')]
    pub clear: Vec<String>,
}

/// The task as it is now, and what changed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The task.
    #[serde(flatten)]
    pub task: TaskView,
    /// The names of the fields that are different now.
    pub changed: Vec<String>,
}

verb!("task.edit", Request => Answer, Adds, Own, |request| vec![Subject::Task(&mut request.id)]);
