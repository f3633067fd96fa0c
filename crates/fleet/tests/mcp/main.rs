//! The MCP server as its clients meet it: the built binary, real git, real runners, the demo agent.

#![expect(clippy::disallowed_methods, reason = "clients start servers, and look at the clock")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail by panicking")]

mod arguments;
mod claude;
mod clients;
mod commander;
mod fields;
mod http;
mod in_a_run;
mod lines;
mod original;
mod python;
mod reading;
mod refused;
mod stage;
mod tools;
mod unattended;
mod workflows;
mod workflows_refused;
