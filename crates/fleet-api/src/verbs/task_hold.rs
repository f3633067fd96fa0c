use crate::prelude::*;
use crate::verbs::task_cancel::Answer;

/// Holds tasks, so that they do not start: all of those named, or none.
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

verb!("task.hold", Request => Answer, Ends, Own, |request| Subject::tasks(&mut request.ids));
