//! Which git this is.

use std::process::Command;

use crate::inherited;

#[expect(clippy::disallowed_methods, reason = "this crate is the home of processes")]
pub fn version() -> std::io::Result<String> {
    let output =
        Command::new(inherited::git()).arg("--version").env_clear().envs(inherited::local()).output()?;
    if !output.status.success() {
        return Err(std::io::Error::other(format!("`git --version` ended with {}", output.status)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
