//! Workflows from file to result: the built binary, real git, real runners and keepers, the demo agent.

#![expect(clippy::disallowed_methods, reason = "processes are started and killed here")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail by panicking")]

mod bench;
mod cancel;
mod clean;
mod conflicts;
mod crowd;
mod examples;
mod failures;
mod fanout;
mod judge;
mod kills;
mod line;
mod looks;
mod refused;
mod retry;
mod trust;
