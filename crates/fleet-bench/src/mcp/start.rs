//! How long a client waits for a server that it starts.

use std::time::Instant;

use fleet_testkit::mcp_client::McpClient;

use super::beside;
use super::rig::{McpRig, ServerKind};
use crate::BenchSetting;
use crate::report::{Goal, ReportRow};
use crate::timing::median;

const ROUNDS: usize = 11;
const WARM: usize = 2;
/// What a client that starts a server may wait for it.
const BOUND: f64 = 20.0;

pub(crate) fn run(setting: &BenchSetting) -> Vec<ReportRow> {
    beside(setting, measure)
}

fn measure(rig: &McpRig) -> Vec<ReportRow> {
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..ROUNDS + WARM {
        for (times, whose) in times.iter_mut().zip([ServerKind::Ours, ServerKind::Theirs]) {
            let begun = Instant::now();
            let client = McpClient::start(rig.command(whose));
            let took = begun.elapsed().as_secs_f64() * 1_000.0;
            drop(client);
            if round >= WARM {
                times.push(took);
            }
        }
    }
    let [ours, theirs] = times.map(median);
    let baseline = format!("ms (fixed bound); the original {theirs:.0} ms");
    let what = "from the start of an MCP server to its answer to `initialize`";
    vec![ReportRow::new(what, (ours, "ms"), (BOUND, &baseline), Goal::AtMost(1.0))]
}
