//! Git repositories of this machine.
//!
//! Owns how a repository is found. Must never change a repository that it was not told to change.

mod config;
mod discover;
mod gitdir;
mod version;

pub use discover::{DiscoverError, Repository, discover};
pub use version::version;
