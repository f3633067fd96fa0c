use fleet_core::outcome::RunResult;

use crate::prelude::*;
use crate::views::RunView;

/// Returns the result of a run, without looking at git or the machine.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The run: its id, the id of its task, or its branch.
    pub id: String,
}

/// The result of a run.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The run.
    pub run: RunView,
    /// The result; nothing while it runs.
    pub result: Option<RunResult>,
}

verb!("run.result", Request => Answer, Reads, Own, |request| vec![Subject::Run(&mut request.id)]);
