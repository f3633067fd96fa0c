//! A person's editor and shell.

use std::path::Path;
use std::process::Command;

/// Opens `file` in `editor` and waits until it is closed. The setting may carry arguments (`code --wait`); it is
/// split at spaces and never goes through a shell.
#[expect(clippy::disallowed_methods, reason = "this crate is the home of processes")]
pub fn edit(editor: &str, file: &Path) -> std::io::Result<()> {
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or("vi");
    let status = Command::new(program).args(words).arg(file).status()?;
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
