//! Processes of this machine.
//!
//! Owns starting them, telling them apart, finding all that a run has started, and ending them. Must never signal a
//! process of which it is not certain: a process is known by its start as well as by its number, which the kernel
//! reuses one day.
//!
//! A run has a keeper, which starts the agent and is its *subreaper*: whatever loses its parent becomes a child of the
//! keeper. [`ProcessTree`] says how the processes of a run are found while the keeper lives and after it was killed.

#[cfg(target_os = "linux")]
mod adopted;
mod ancestors;
mod ask;
mod detach;
mod freeze;
mod group;
mod handle;
mod identity;
mod launch;
mod membership;
mod occupants;
mod reap;
mod scan;
mod stop;
mod table;
mod terminal;
mod tree;

use std::time::Duration;

pub use ancestors::{Ancestors, may_be_below_unseen};
pub use ask::{NoAnswer, ProcessQuery, ask};
pub use detach::{Detached, pass_no_descriptors, spawn_connected, spawn_detached, take_input_socket};
pub use freeze::FrozenTree;
pub use group::{Group, Inside, ScopeOutcome, UserSystemd, enter_scope};
pub use identity::Identity;
pub use launch::{Launch, LaunchError, Started, StdinFrom, launch};
pub use occupants::{Occupant, Occupants};
pub use reap::{Exit, become_subreaper, forbid_dumps, new_session, reap};
pub use rustix::process::Signal;
pub use scan::Processes;
pub use stop::{StopOutcome, StopSequence, StoppedTree};
pub use table::Io;
pub use terminal::{Terminal, TerminalReader, TerminalStarted, TerminalWriter, launch_in_terminal};
pub use tree::{Member, ProcessTree, ProcessUsage};

/// How long ago the machine was started. `None` where the table of processes does not tell.
pub fn uptime() -> Option<Duration> {
    table::age(0)
}
