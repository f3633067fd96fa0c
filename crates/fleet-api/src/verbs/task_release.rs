//! `task.release`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Subject;
use crate::verb::verb;
use crate::verbs::task_cancel::Answer;

/// Takes held tasks up again: all of those named, or none.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The tasks.
    pub ids: Vec<String>,
}

verb!("task.release", Request => Answer, Adds, Own, |request| Subject::tasks(&mut request.ids));
