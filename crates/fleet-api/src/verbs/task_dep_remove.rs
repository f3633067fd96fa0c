use crate::prelude::*;
use crate::verbs::task_cancel::Answer;

/// Removes dependencies of a task: all of those named, or none.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The task that waits
    pub id: String,
    /// The tasks that come first
    #[arg(required = true, value_name = "ON")]
    pub on: Vec<String>,
}

verb!("task.dep.remove", Request => Answer, Ends, Own, |request| Subject::waiting(&mut request.id, &mut request.on));
