//! Terminals of agents: an interactive agent runs in a pseudo-terminal that its keeper owns.
//!
//! Owns what the keeper shows of it ([`hub`]), the socket through which people look at it and type ([`server`],
//! [`client`]), and the terminal of a person who does ([`attach`]). Must never let the bytes of an agent reach the
//! terminal of a person: those see what the emulated screen shows. Must never let an agent type.

mod attach;
mod client;
mod ends;
mod hooks;
mod hub;
mod input;
mod keys;
mod line;
mod recorder;
mod replay;
mod secrets;
mod server;
mod wire;

pub use attach::{AttachOptions, Attached, attach};
pub(crate) use client::{answer, lines};
pub(crate) use hooks::HookInbox;
pub(crate) use hub::{Hub, first_size};
pub(crate) use input::TerminalInput;
pub use keys::DetachKey;
pub use line::{LineKeys, TypedLine};
pub(crate) use recorder::Recorder;
pub use replay::{ReplayOptions, replay};
pub(crate) use secrets::Secrets;
pub(crate) use server::{Answering, OpenTerminal};
pub use wire::TerminalEnd;
