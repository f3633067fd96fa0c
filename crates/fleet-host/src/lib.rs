//! What codefleet does on this machine.
//!
//! Owns git and processes: finding, reading and changing them, and the typed errors of what can fail there. Must
//! never decide policy: which task runs, what is retried or what may be deleted comes in as an argument. It knows
//! no store, no agent and no configuration.

mod bounded_wait;
mod child;
pub mod copy;
pub mod demo;
pub mod disk;
pub mod editor;
pub mod git;
pub mod growing;
mod inherited;
mod kernel_file;
pub mod lines;
pub mod lock;
pub mod log;
pub mod machine;
mod newest;
pub mod plain;
pub mod ports;
pub mod process;
pub mod recording;
pub mod resources;
pub mod screen;
mod stop_flag;
pub mod terminal;
mod terminal_size;
pub mod trace;
mod user;

pub use newest::newest_change;
pub use stop_flag::StopFlag;
pub use terminal_size::TerminalSize;
pub use user::user_name;
