use crate::prelude::*;
use crate::views::TaskView;

/// Cancels tasks: all of those named, or none. Running ones are stopped, and their work is kept.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The tasks: ids, branches, batches or patterns such as 'login-*'; all of them change, or none
    #[arg(required = true, value_name = "ID")]
    pub ids: Vec<String>,
    /// Reason, shown to others
    #[arg(short = 'm', long, value_name = "TEXT")]
    pub remark: Option<String>,
}

/// The tasks as they are now.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// In the order in which they were named.
    pub tasks: Vec<TaskView>,
}

verb!("task.cancel", Request => Answer, Ends, Own, |request| Subject::tasks(&mut request.ids));
