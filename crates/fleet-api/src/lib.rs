//! What can be asked of codefleet: the contract between the interfaces and the engine.
//!
//! Owns the table of verbs: for each its id, its request, its answer, who may call it and what it does to the world;
//! and the views, in which tasks, runs and workflows are shown. Everything here travels as JSON. Must never do
//! anything: no file, no process, no socket, no clock.

// First of all: the modules below use the macro that it makes.
include!(concat!(env!("OUT_DIR"), "/list.rs"));

mod access;
mod bytes;
mod client;
mod mode_choice;
mod moment;
mod prelude;
mod score;
mod span;
mod table;
mod task_fields;
mod verb;
pub mod verbs;
pub mod views;

pub use access::{Access, Asker};
pub use bytes::Bytes;
pub use client::{Answering, Client, Question, call};
pub use mode_choice::ModeChoice;
pub use moment::{Moment, rfc3339};
use span::{millis, seconds};
pub use table::{TABLE, VerbRow};
pub use task_fields::TaskFields;
pub use verb::{Nature, Subject, Verb};
