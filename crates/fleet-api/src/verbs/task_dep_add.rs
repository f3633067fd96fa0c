use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Subject;
use crate::verb::verb;
use crate::views::TaskView;

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

verb!("task.dep.add", Request => TaskView, Adds, Own, |request| Subject::waiting(&mut request.id, &mut request.on));
