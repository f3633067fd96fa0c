//! Workflows as people write them: files in TOML, YAML or JSON.
//!
//! Owns where such files are found, how they are read, and what is said about a wrong one: file, line and column, and what
//! was probably meant. Three readers turn a text into one tree that knows its places ([`node`]); everything behind them is
//! the same for all formats. Two forms: stages by name, and the list of stages that need each other by number
//! ([`form`]). Must never start anything, and never trust a file: its size, its depth and what it links to are bounded.

mod agents;
mod diagnostic;
mod form;
mod given;
mod json;
mod load;
mod node;
mod reader;
mod shipped;
mod source;
#[cfg(test)]
mod tests;
mod toml;
mod write;
mod yaml;

pub(crate) use diagnostic::of_problem;
pub(crate) use diagnostic::problem;
pub(crate) use fleet_api::views::{Diagnostic, FileFormat, Severity, Wants, WorkflowOrigin};
pub(crate) use given::{GivenValues, SourcePurpose};
pub(crate) use load::{Loaded, load};
pub(crate) use shipped::{SHIPPED, ShippedFile};
pub(crate) use source::{SourceFile, SourceQuery, find, folder};
pub(crate) use write::written;
