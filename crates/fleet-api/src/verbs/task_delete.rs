use crate::prelude::*;
use crate::views::TaskView;

/// Deletes tasks permanently: all of those named, or none.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The tasks: ids, branches, batches or patterns such as 'login-*'; all of them go, or none
    #[arg(required = true, value_name = "ID")]
    pub ids: Vec<String>,
    /// Only say what would go.
    #[arg(skip)]
    pub dry_run: bool,
}

/// What is gone, or would be.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The tasks, as they were.
    pub deleted: Vec<TaskView>,
}

verb!("task.delete", Request => Answer, Ends, Own, |request| Subject::tasks(&mut request.ids));
