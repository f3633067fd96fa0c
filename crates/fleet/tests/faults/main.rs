//! Faults: what becomes of a run when any of its processes is killed at any step, when its workspace, its disk or its
//! store fails, and when what is written about it is wrong.
//!
//! Every test here ends with the same demands, in `evidence.rs`: the task ends once, nobody is left behind, no byte is
//! lost, and the user's own checkout was not touched.

#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    reason = "processes are started, frozen and killed here, and looked for in /proc"
)]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "helpers of tests fail by panicking, and say what they skipped"
)]

mod adoption;
mod branches;
mod broken;
mod bulk;
mod checks;
mod closed;
mod crowd;
mod damage;
mod disk;
mod evidence;
mod frozen;
mod graphs;
mod halted;
mod identity;
mod matrix;
mod messages;
mod offspring;
mod opening;
mod output;
mod pressure;
mod prior_work;
mod processes;
mod questions;
mod relay;
mod repair;
mod server;
mod soak;
mod stage;
mod strangers;
mod submodules;
mod unattended;
