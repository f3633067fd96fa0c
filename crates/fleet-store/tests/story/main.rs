//! The story of the store: every scenario is written once and holds on both engines.
//!
//! What only one engine has (files, a schema made by hand) stands in `files` and `open`. Each scenario ends with
//! the audit and with a replay of all events: whatever it was about, nothing may contradict.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail by panicking"
)]
#![expect(clippy::print_stdout, reason = "a measured time is told, and bounded only generously")]

#[macro_use]
mod harness;
mod here;

mod able;
mod batches;
mod branches;
mod budget;
mod caps;
mod claim;
mod conversations;
mod deletion;
mod deps;
mod deps_races;
mod events;
mod failures;
mod files;
mod follow;
mod hand_over;
mod lease;
mod locked;
mod mailbox;
mod message_lists;
mod messages;
mod messages_reopen;
mod model;
mod moves;
mod obstacles;
mod open;
mod pauses;
mod projects;
mod questions;
mod queue_pauses;
mod recent;
mod reports;
mod resolve;
mod run_events;
mod run_lists;
mod runs;
mod scopes;
mod sets;
mod spawn;
mod task_texts;
mod tasks;
mod terminals;
mod twice;
mod upgrade;
mod watch;
mod week;
mod workflows;
