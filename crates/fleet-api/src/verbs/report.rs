use fleet_core::run::RunReport;

use crate::prelude::*;

/// Records what an agent reports about its own run: done, failed, a note, progress.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// What it says.
    pub report: RunReport,
}

/// What was taken down.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The run that it is about.
    pub run: RunId,
    /// What was said.
    pub report: RunReport,
}

verb!("report", Request => Answer, Adds, Agents);
