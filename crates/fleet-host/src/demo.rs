//! What the demo agent does to processes: to others that it starts, and to its own.
//!
//! Owns the bad manners that real agents' tools have. Must never be used by anything but the demo agent: what
//! codefleet itself does with git and processes is in the other modules.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use nix::sys::signal::{SigSet, Signal, raise};

/// Commits everything in a work tree as an agent would: with the user's hooks. Returns the new commit.
pub fn commit(directory: &Path, message: &str) -> io::Result<String> {
    git(directory, &["add", "--all"])?;
    // The author is the demo agent, whether or not the user has a name.
    let author = ["-c", "user.name=Demo Agent", "-c", "user.email=demo@localhost"];
    let commit = ["commit", "--quiet", "--message", message];
    git(directory, &[&author[..], &commit].concat())?;
    git(directory, &["rev-parse", "HEAD"])
}

pub fn new_repository(directory: &Path) -> io::Result<()> {
    git(directory, &["init", "--quiet", "--initial-branch=main"]).map(drop)
}

#[expect(clippy::disallowed_methods, reason = "this crate is the home of processes")]
fn git(directory: &Path, args: &[&str]) -> io::Result<String> {
    let output = Command::new("git").args(args).current_dir(directory).stdin(Stdio::null()).output()?;
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() {
        return Ok(said(&output.stdout));
    }
    let words = said(&output.stderr) + &said(&output.stdout);
    Err(io::Error::other(format!("git ended with {}: {words}", output.status)))
}

/// Runs this binary with other arguments, in the same surroundings, and returns what it said.
#[expect(clippy::disallowed_methods, reason = "this crate is the home of processes")]
pub fn run_self(args: &[&str]) -> io::Result<String> {
    let output = Command::new(std::env::current_exe()?).args(args).stdin(Stdio::null()).output()?;
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() {
        return Ok(said(&output.stdout));
    }
    Err(io::Error::other(format!("it ended with {}: {}", output.status, said(&output.stderr))))
}

/// What a left-behind process inherits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inheritance {
    /// Our environment; otherwise an empty one.
    pub environment: bool,
    /// Our standard output and standard error; otherwise none.
    pub streams: bool,
}

/// Starts this binary with other arguments and forgets it. Returns its process id.
#[expect(clippy::disallowed_methods, reason = "this crate is the home of processes")]
pub fn leave_behind(args: &[&str], inheritance: Inheritance) -> io::Result<u32> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(args).stdin(Stdio::null());
    if !inheritance.environment {
        command.env_clear();
    }
    if !inheritance.streams {
        command.stdout(Stdio::null()).stderr(Stdio::null());
    }
    Ok(command.spawn()?.id())
}

/// Moves this process to its own session and process group.
pub fn leave_session() -> io::Result<()> {
    nix::unistd::setsid()?;
    Ok(())
}

/// From now on this process does not end by a signal, named as in `SIGTERM`. To be called while there is only one
/// thread. The signal is blocked rather than ignored, so that processes started later do not inherit this.
pub fn ignore(signal: &str) -> io::Result<()> {
    let mut set = SigSet::empty();
    set.add(named(signal)?);
    set.thread_block()?;
    Ok(())
}

/// Sends this process a signal, named as in `SIGTERM`. Returns if the process lives on.
pub fn signal_self(signal: &str) -> io::Result<()> {
    raise(named(signal)?)?;
    Ok(())
}

fn named(signal: &str) -> io::Result<Signal> {
    signal.parse().map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, format!("no signal {signal:?}")))
}
