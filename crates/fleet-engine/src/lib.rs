//! The use cases of codefleet.
//!
//! Owns what happens between a request and its answer, and the two things every request starts from: what the
//! process was given ([`environment`]) and how it is configured ([`config`]). Must never print, parse arguments
//! or know which transport asked.

pub mod config;
pub mod environment;
