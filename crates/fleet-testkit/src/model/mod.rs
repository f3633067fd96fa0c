//! A model that does what a test says: a server on loopback that real agents take for their vendor's.
//!
//! Owns the four protocols, the scenarios and the record of what was asked. What the model does is decided in
//! [`script`](self) from the conversation alone, so that the server keeps nothing but counters. Must never listen
//! on anything but loopback, and never write a request to disk: requests hold the vendors' own instructions.

mod call;
mod errands;
mod http;
mod instance;
mod record;
mod scenario;
mod script;
mod server;
mod talk;
#[cfg(test)]
mod tests;
mod wire;

pub use record::Request;
pub use script::{CONTENT, DEFAULT_TARGET, SLEEP_COMMAND};
pub use server::ModelServer;
pub use talk::{Talk, Tool, Turn};
pub use wire::{Protocol, QUOTA_SECONDS, USAGE, Usage};
