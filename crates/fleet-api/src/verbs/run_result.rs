use fleet_core::outcome::RunResult;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Subject;
use crate::verb::verb;
use crate::views::RunView;

/// Tells what came out of one run, without a look at git or the machine.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The run: its id, the id of its task, or its branch.
    pub id: String,
}

/// What came out of a run.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The run.
    pub run: RunView,
    /// What was found in the end; nothing while it is at work.
    pub result: Option<RunResult>,
}

verb!("run.result", Request => Answer, Reads, Own, |request| vec![Subject::Run(&mut request.id)]);
