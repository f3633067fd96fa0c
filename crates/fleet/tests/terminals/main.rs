//! Agents in terminals: attached to, talked to, taken over, killed, hostile.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "a test uses the tmux that is there")]

mod attach;
mod deaths;
mod hostile;
mod launch;
mod stage;
mod switch;
mod talk;
