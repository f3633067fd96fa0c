//! What several adapters need: reading values that may be of any shape, and the meaning of HTTP states.
//!
//! Must never know an agent. Everything here takes what a stranger wrote and gives back less of it, never a failure.

pub(crate) mod http;
pub(crate) mod json;
