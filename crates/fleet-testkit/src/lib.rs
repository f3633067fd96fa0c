//! What the tests of codefleet share: real things, privately owned, gone when the test is over.
//!
//! Owns the private PostgreSQL server, throw-away git repositories, a look into the vault of a home, the scripted model
//! and the real agents that talk to it, the way the built binary is run, and waiting. A dev-dependency (and a dependency
//! of xtask) only: nothing that users run may depend on it. It must never touch what the developer already has: no other
//! database server, no git configuration, no home directory.
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    reason = "what tests share starts processes, reads the clock and the environment, and fails by panicking"
)]

pub mod clis;
pub mod fleet;
pub mod mcp;
pub mod mcp_client;
pub mod model;
pub mod person;
pub mod postgres;
pub mod python;
pub mod repo;
pub mod user;
pub mod vault;
mod wait;

pub use wait::wait_until;
