//! The MCP server beside the Python program of the same name whose tools it has: both are asked the same by the same
//! client, and both start the same agent, one that does nothing.

mod many;
mod rig;
mod start;
mod workers;
mod workflows;

pub(crate) use many::run as many;
pub(crate) use start::run as start;
pub(crate) use workers::run as workers;
pub(crate) use workflows::run as workflows;

use rig::McpRig;

use crate::BenchSetting;
use crate::report::ReportRow;

/// Both in turn, or why there is nothing to measure: the Python program cannot be had everywhere.
fn beside(setting: &BenchSetting, measure: impl FnOnce(&McpRig) -> Vec<ReportRow>) -> Vec<ReportRow> {
    match McpRig::new(setting) {
        Ok(rig) => measure(&rig),
        Err(why) => {
            eprintln!("skipped: {why}");
            Vec::new()
        }
    }
}
