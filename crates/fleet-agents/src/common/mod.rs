//! What several adapters need: looking into JSON that nobody vouches for, tools and the files they touch, and what a
//! provider's refusal means, and how much of all that is kept.
//!
//! Owns no agent's format. Must never fail on what an agent wrote: what is not there or not of the expected kind is
//! nothing.

pub(crate) mod ansi;
pub(crate) mod http;
pub(crate) mod json;
pub(crate) mod pointer;
pub(crate) mod refusal;
pub(crate) mod tool;
pub(crate) mod trouble;
pub(crate) mod words;

/// The longest last message that is kept: more than any report. What is longer is cut.
pub(crate) const LONGEST_FINAL: usize = 256 * 1024;

/// The longest text of one event: the raw log has the rest.
pub(crate) const LONGEST_TEXT: usize = 64 * 1024;

/// The longest summary of a tool's input or output, and the longest message of an error.
pub(crate) const LONGEST_SUMMARY: usize = 500;
