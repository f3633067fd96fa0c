//! Runs of stages and of tasks that wait for others, from their claim to their end: the real keeper in this process, real
//! git, and an agent that does what its prompt says.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]
#![expect(clippy::disallowed_methods, reason = "the agent needs the PATH of whoever runs the tests")]

mod after;
mod checks;
mod play;
mod preparing;
mod prompts;
mod rig;
mod starts;
