//! Starting other programs, always at the top of the repository.

use std::env;
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::failure::Failure;

pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

/// The top of the repository.
pub(crate) fn root() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package)
}

/// Where cargo puts what it builds.
pub(crate) fn target_directory() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// The cargo that started us, so that all steps use the same toolchain. It does not inherit what cargo told us about our own
/// package: build scripts that look at it (ring's) would run again, and most of the workspace would be compiled again,
/// each time somebody changes between `cargo build` and `cargo xtask`.
pub(crate) fn cargo() -> Command {
    let mut cargo = command(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let names = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for name in names.filter(|name| is_about_our_package(name)) {
        cargo.env_remove(name);
    }
    cargo
}

fn is_about_our_package(variable: &str) -> bool {
    ["CARGO_MANIFEST_", "CARGO_PKG_"].iter().any(|prefix| variable.starts_with(prefix))
}

/// Runs on our terminal. True if it succeeded.
pub(crate) fn run(command: &mut Command) -> Result<bool, Failure> {
    let status = command.stdin(Stdio::null()).status().map_err(|source| cannot_run(command, source))?;
    Ok(status.success())
}

/// Runs unseen. False also if it cannot be started.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    let silent = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    silent.status().is_ok_and(|status| status.success())
}

/// Runs on our terminal, but shows each line of both streams to `on_line` too. True if it succeeded.
pub(crate) fn watch(command: &mut Command, on_line: impl FnMut(&str) + Send) -> Result<bool, Failure> {
    if io::stderr().is_terminal() && env::var_os("CARGO_TERM_COLOR").is_none() {
        command.env("CARGO_TERM_COLOR", "always");
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|source| cannot_run(command, source))?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let on_line = Mutex::new(on_line);
    let tell = |line: &str| on_line.lock().unwrap_or_else(PoisonError::into_inner)(line);
    thread::scope(|scope| {
        scope.spawn(|| pass_on(stdout, io::stdout(), tell));
        scope.spawn(|| pass_on(stderr, io::stderr(), tell));
    });
    let status = child.wait().map_err(|source| cannot_run(command, source))?;
    Ok(status.success())
}

/// Goes on reading when nobody listens any more, because the child would be stuck otherwise.
fn pass_on(from: Option<impl Read>, mut to: impl Write, tell: impl Fn(&str)) {
    let Some(from) = from else { return };
    let mut reader = BufReader::new(from);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
        let _ = to.write_all(&line).and_then(|()| to.flush());
        tell(String::from_utf8_lossy(&line).trim_end());
        line.clear();
    }
}

fn cannot_run(command: &Command, source: io::Error) -> Failure {
    Failure::Process { program: command.get_program().display().to_string(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_streams_are_watched() {
        let mut lines = Vec::new();
        let mut shell = command("sh");
        let ok =
            watch(shell.args(["-c", "echo one; echo two >&2; exit 3"]), |line| lines.push(line.to_owned()));
        lines.sort();
        assert_eq!(lines, ["one", "two"]);
        assert!(!ok.unwrap());
    }

    #[test]
    fn cargo_builds_as_it_does_when_a_person_starts_it() {
        let cargo = cargo();
        let is_removed = |name: &str| cargo.get_envs().any(|(key, value)| key == name && value.is_none());
        assert!(is_removed("CARGO_MANIFEST_DIR") && is_removed("CARGO_PKG_NAME"), "{cargo:?}");
        assert!(!is_removed("CARGO_TARGET_DIR") && !is_removed("CARGO_HOME"), "{cargo:?}");
    }

    #[test]
    fn a_program_that_is_missing_is_named() {
        let error = run(&mut command("no-such-program-here")).unwrap_err().to_string();
        assert!(error.starts_with("cannot run no-such-program-here: "), "{error}");
        assert!(!succeeds(&mut command("no-such-program-here")));
    }
}
