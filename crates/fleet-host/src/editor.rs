//! What a person uses at the terminal: editor, shell, installers.

use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

/// Opens `file` in `editor` and waits until it is closed. The setting may carry arguments (`code --wait`); it is
/// split at spaces and never goes through a shell.
#[expect(clippy::disallowed_methods, reason = "this crate is the home of processes")]
pub fn edit(editor: &str, file: &Path) -> std::io::Result<()> {
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or("vi");
    succeeded(program, Command::new(program).args(words).arg(file).status()?)
}

/// Runs a program with its arguments, at the terminal, and waits for it. In the root folder: installers use what lies in
/// the current one (`pip.py`, `rust-toolchain.toml`, `.npmrc`), which may be a repository.
#[expect(clippy::disallowed_methods, reason = "this crate is the home of processes")]
pub fn run(command: &[String]) -> std::io::Result<()> {
    let (program, arguments) = command.split_first().ok_or(std::io::ErrorKind::InvalidInput)?;
    succeeded(program, Command::new(program).args(arguments).current_dir("/").status()?)
}

/// Whether a program ends well. It says nothing.
#[expect(clippy::disallowed_methods, reason = "this crate is the home of processes")]
pub fn succeeds(command: &[&str]) -> bool {
    let Some((program, arguments)) = command.split_first() else { return false };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn succeeded(program: &str, status: ExitStatus) -> std::io::Result<()> {
    if status.success() {
        Ok(())
    } else {
        Err(std::io::Error::other(format!("{program} ended with {status}")))
    }
}

/// Runs a shell in a folder and waits for it. How it ends is its user's affair.
#[expect(clippy::disallowed_methods, reason = "this crate is the home of processes")]
pub fn shell(shell: &str, folder: &Path) -> std::io::Result<()> {
    Command::new(shell).current_dir(folder).status().map(drop)
}
