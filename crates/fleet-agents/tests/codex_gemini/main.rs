//! The recorded streams of Codex and Gemini CLI, whole and broken, through their decoders.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod codex;
mod gemini;
mod hostile;
mod replay;
