//! What codefleet offers to other programs: an MCP server, on standard streams or over HTTP.
//!
//! Owns how verbs are asked for and answered in that protocol. Must never decide anything that a verb should decide, and
//! never write anything but the protocol to standard output.

mod connections;
mod http;
mod lines;
mod mcp;
mod sessions;
mod stdio;

pub use http::{DEFAULT_ADDRESS, Http};
pub use stdio::serve_stdio;

use fleet_core::problem::{Code, Problem};

fn broken(what: &str, error: impl std::fmt::Display) -> Problem {
    Problem::new(Code::Io, format!("{what}: {error}"))
}
