//! The door of a run: the one way from inside a run to codefleet.
//!
//! Owns the keeper's socket, what travels through it and who may use it. A process that connects is the agent of that
//! run, by that alone: nothing that it says about itself counts. Must never keep the keeper from its own work: calls
//! run beside it, in bounded numbers and sizes.

mod client;
#[cfg(test)]
mod neighbours;
mod peer;
mod server;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod walk;
mod wire;

pub(crate) use client::Door;
pub(crate) use peer::DoorOwner;
pub(crate) use server::OpenDoor;
