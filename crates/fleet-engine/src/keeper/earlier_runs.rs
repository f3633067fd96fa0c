//! Earlier attempts at a task, for tests.

use fleet_core::id::{IdMaker, RunId};
use fleet_core::run::{Reason, Run, RunState};
use fleet_core::time::Millis;

pub(super) fn id(number: u64) -> RunId {
    IdMaker::default().next(Millis(1_800_000_000_000), number)
}

/// A run of `claude` whose agent was started.
pub(super) fn ended(number: u64, state: RunState, reason: Option<Reason>) -> Run {
    let run = serde_json::json!({
        "id": id(number), "task": "t0skybe7ym6dd2w", "project": "p0skybd1301httv", "attempt": number, "state": state,
        "reason": reason, "runner": "r", "place": "here", "agent": "claude", "decoded": 0, "lease_until": 0,
        "usage": {"input_tokens": 0, "output_tokens": 0, "micro_usd": 0}, "reserved": {}, "created_at": 0,
        "started_at": 1, "ended_at": 2,
    });
    serde_json::from_value(run).unwrap()
}

pub(super) fn failed(number: u64, reason: Reason) -> Run {
    ended(number, RunState::Failed, Some(reason))
}
