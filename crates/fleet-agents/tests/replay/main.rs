//! Recorded output of the real agents, read by their decoders as a keeper reads it, whole and broken. What each recording
//! shows was written down by a person who read it.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod acp;
mod claude;
mod codex;
mod context;
mod gemini;
mod harness;
mod hostile;
mod opencode;
