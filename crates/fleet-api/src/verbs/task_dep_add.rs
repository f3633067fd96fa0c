use crate::prelude::*;
use crate::verbs::task_cancel::Answer;

/// Makes a task wait for others: for all of those named, or none.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The task that waits
    pub id: String,
    /// The tasks that come first
    #[arg(required = true, value_name = "ON")]
    pub on: Vec<String>,
}

verb!("task.dep.add", Request => Answer, Adds, Own, |request| Subject::waiting(&mut request.id, &mut request.on));
