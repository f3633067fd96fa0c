//! The pure domain of codefleet.
//!
//! Owns what tasks, runs, projects and events are, which changes of state are legal, and every decision about
//! what should happen next. Must never touch a file, a socket, the environment, the clock or a source of
//! randomness: time and entropy come in as arguments, decisions go out as values.

pub mod problem;
