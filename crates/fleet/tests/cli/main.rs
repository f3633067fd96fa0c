//! The built binary as people and programs meet it: what it prints, how it ends, and what it leaves behind.

#![expect(clippy::disallowed_methods, reason = "shells, mounts and clocks are what the binary lives among")]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "helpers of tests fail by panicking, and say what they skipped"
)]

mod agents;
mod bad_config;
mod bad_input;
mod bad_store;
mod checks;
mod completions;
mod concurrency;
mod config;
mod config_edit;
mod demo_agent;
mod disk_full;
mod events;
mod fields;
mod hostile;
mod init;
mod launch;
mod long_conversations;
mod models;
mod pager;
mod pipes;
mod projects;
mod queue;
mod reference;
mod search;
mod seclusion;
mod seeing;
mod setup;
mod shapes;
mod spawn;
mod steer;
mod support;
mod trust;
mod update;
mod walk;
mod workflow_files;
mod wrong;
