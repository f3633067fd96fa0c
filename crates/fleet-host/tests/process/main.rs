//! Processes, locks, logs and ports, with real processes that misbehave and are killed.

#![expect(clippy::disallowed_methods, reason = "starts and kills processes, by the real clock")]
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests fail by panicking")]

mod actor;
mod flood;
mod identity;
mod launch;
mod lock;
mod log;
mod ports;
#[cfg(target_os = "linux")]
mod reap;
mod recording;
mod screen;
mod terminal;
#[cfg(target_os = "linux")]
mod tree;

use std::time::Duration;

/// Longer than anything takes on a slow machine.
const BOUND: Duration = Duration::from_mins(1);
