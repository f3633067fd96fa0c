//! Any agent that speaks the Agent Client Protocol on its standard streams, version 1.
//!
//! Owns our side of the conversation: it opens a session in the workspace, sends the prompt, answers what the agent
//! asks for, and reads what it tells. The types of the messages are those of the protocol's own crate. We offer the
//! agent neither files nor terminals of ours, because it runs in the workspace and has its own; and whether it may
//! use a tool is answered at once, from the trust of the run.
//!
//! The number alone says which request an answer belongs to (see `wire`), so that lines that are read again mean the
//! same.

mod calls;
mod decoder;
mod error;
mod front;
mod offers;
mod permission;
mod remark;
mod speech;
mod spending;
#[cfg(test)]
mod tests;
mod wire;

pub(crate) use decoder::AcpDecoder;
pub use front::Acp;
