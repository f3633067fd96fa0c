//! The use cases of codefleet.
//!
//! Owns the verbs, one file each, and what they share: the configuration, the environment, the clock. It is the
//! only place where store and host meet. Every transport (command line, HTTP, MCP) calls the same verbs with
//! the same typed requests; no verb ever prints.

mod access;
mod agent_env;
pub mod agents;
mod allowed;
mod atomic_file;
pub mod caller;
mod cancellation;
mod checkouts;
pub mod clock;
mod closing;
pub mod config;
pub mod demo;
mod door;
mod engine;
pub mod environment;
mod fault;
pub mod home;
mod inside;
pub mod keeper;
mod landing_status;
mod load;
mod lost_keeper;
mod place;
pub mod playground;
mod problems;
pub mod reconcile;
pub mod runner;
#[cfg(test)]
mod scratch;
pub mod server_token;
mod service;
mod sockets;
mod stuck;
pub mod sweep;
mod table;
pub mod terminal;
mod text_file;
mod token;
mod trust;
mod verbs;
mod waiting;
mod window;
mod workflow_file;

/// The life of a process. Boxed, so that it is compiled here and not again in the crate that waits for it.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + 'a>>;

pub use engine::{Engine, EngineStart};
pub use service::Service;

use fleet_core::problem::{Code, Outcome, Problem};

/// Makes this process the leader of its own session: no terminal's Ctrl-C or end reaches it.
pub fn detach() -> std::io::Result<()> {
    fleet_host::process::new_session()
}

/// Closes this process to others of the same user: agents must not find secrets in its environment or memory.
pub fn forbid_dumps() {
    fleet_host::process::forbid_dumps();
}

/// Keeps what this process was started with from all that it starts.
pub fn pass_no_descriptors() {
    fleet_host::process::pass_no_descriptors();
}

/// Opens a file in a person's editor and waits for it.
pub fn edit_file(editor: &str, file: &std::path::Path) -> Outcome<()> {
    fleet_host::editor::edit(editor, file).map_err(|error| {
        let why = match error.kind() {
            std::io::ErrorKind::NotFound => "it is not installed".to_owned(),
            _ => error.to_string(),
        };
        Problem::new(Code::Io, format!("the editor {editor:?} failed: {why}"))
            .hint("set `EDITOR` to an editor that waits until its file is closed")
    })
}

pub use fleet_host::terminal::{Keys, start_pager};

/// Shows each step of this process with its time, on standard error.
pub fn show_steps() {
    fleet_host::trace::switch_on();
}

/// Runs the program that installs a newer version and waits for it. It talks to the user directly.
pub fn run_installer(command: &[String]) -> Outcome<()> {
    fleet_host::editor::run(command).map_err(|error| {
        let line = command.join(" ");
        Problem::new(Code::Io, format!("`{line}` failed: {error}")).hint("run it yourself to see why")
    })
}

/// Runs tmux for a person and waits for it.
pub fn run_tmux(command: &[String]) -> Outcome<()> {
    let whole: Vec<String> = std::iter::once("tmux".to_owned()).chain(command.iter().cloned()).collect();
    fleet_host::editor::run(&whole).map_err(|error| {
        let why = match error.kind() {
            std::io::ErrorKind::NotFound => "tmux is not installed".to_owned(),
            _ => format!("tmux failed: {error}"),
        };
        Problem::new(Code::Io, why).hint("`fleet attach ID` needs no tmux")
    })
}

/// Whether the user's tmux has a session of this name.
pub fn tmux_has(session: &str) -> bool {
    fleet_host::editor::succeeds(&["tmux", "has-session", "-t", &format!("={session}")])
}

/// Runs a person's shell in a folder and waits for it.
pub fn run_shell(shell: &str, folder: &std::path::Path) -> Outcome<()> {
    fleet_host::editor::shell(shell, folder)
        .map_err(|error| Problem::new(Code::Io, format!("the shell {shell:?} failed: {error}")))
}
