use crate::prelude::*;
use crate::verbs::task_cancel::Answer;

/// Requeues failed, cancelled, held or waiting tasks, with failures reset: all of those named, or none.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The tasks: ids, branches, batches or patterns such as 'login-*'; all of them change, or none
    #[arg(required = true, value_name = "ID")]
    pub ids: Vec<String>,
}

verb!("task.retry", Request => Answer, Adds, Own, |request| Subject::tasks(&mut request.ids));
