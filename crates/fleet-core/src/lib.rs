//! The pure domain of codefleet.
//!
//! Owns what tasks, runs, projects and events are, which changes of state are legal, and every decision about
//! what should happen next. Must never touch a file, a socket, the environment, the clock or a source of
//! randomness: time and entropy come in as arguments, decisions go out as values.

pub mod admission;
pub mod argv;
pub mod backoff;
pub mod budget;
pub mod conflict;
pub mod deps;
pub mod event;
pub mod glob;
pub mod id;
pub mod limits;
pub mod message;
pub mod outcome;
pub mod place;
pub mod plan;
pub mod policy;
pub mod problem;
pub mod project;
pub mod redact;
pub mod refname;
pub mod report;
pub mod review;
pub mod run;
pub mod schedule;
pub mod scope;
pub mod similar;
pub mod size;
pub mod supervision;
pub mod task;
pub mod template;
pub mod text;
pub mod tidy;
pub mod time;
mod transition;
pub mod typing;
pub mod watchdog;
pub mod workflow;

pub use transition::{Current, IllegalTransition, Machine, UnknownName};
