//! Starts processes that outlive this one.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rustix::fs::FileType;

use super::Identity;
use super::reap;

#[derive(Clone)]
pub struct Detached {
    pub program: PathBuf,
    pub args: Vec<OsString>,
    /// `None` inherits that of this process.
    pub env: Option<Vec<(OsString, OsString)>>,
    pub cwd: PathBuf,
    /// The file that its output and errors are appended to.
    pub log: PathBuf,
}

/// Starts a process that goes on when this one ends. It reads nothing and writes to its log.
///
/// It has to call [`new_session`](super::new_session) first thing: until then a Ctrl-C at this terminal reaches it.
/// (Starting it in its own process group would close that gap, and would keep it from ever leading a session.) As
/// long as this process lives, [`reap`](super::reap) has to be called now and then, or zombies pile up.
pub fn spawn_detached(detached: &Detached) -> io::Result<Identity> {
    spawn(detached, Stdio::null())
}

/// The same, with the other end of a private socket: see [`take_input_socket`].
pub fn spawn_connected(detached: &Detached, socket: UnixStream) -> io::Result<Identity> {
    spawn(detached, OwnedFd::from(socket).into())
}

/// The socket that this process was started with as its standard input, if it was. Must be called once, before anything
/// is started: later processes get an empty input, and never the socket.
pub fn take_input_socket() -> io::Result<Option<UnixStream>> {
    let input = io::stdin();
    let status = rustix::fs::fstat(&input)?;
    if FileType::from_raw_mode(status.st_mode) != FileType::Socket {
        return Ok(None);
    }
    let socket = rustix::io::fcntl_dupfd_cloexec(&input, FIRST_FREE)?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    Ok(Some(socket.into()))
}

/// The first descriptor after the standard streams.
const FIRST_FREE: i32 = 3;

/// Keeps inherited descriptors, besides the standard streams, from all child processes: a descriptor that was left open
/// in a shell is not for agents.
pub fn pass_no_descriptors() {
    close_fds::set_fds_cloexec(FIRST_FREE, &[]);
}

#[expect(clippy::disallowed_methods, reason = "this crate is the home of processes")]
fn spawn(detached: &Detached, input: Stdio) -> io::Result<Identity> {
    let log =
        OpenOptions::new().append(true).create(true).mode(0o600).open(&detached.log).map_err(|error| {
            io::Error::new(error.kind(), format!("cannot write {}: {error}", detached.log.display()))
        })?;
    let mut command = Command::new(&detached.program);
    command.args(&detached.args).current_dir(&detached.cwd);
    if let Some(env) = &detached.env {
        command.env_clear().envs(env.iter().map(|(name, value)| (name, value)));
    }
    command.stdin(input).stdout(log.try_clone()?).stderr(log);
    let child = command.spawn().map_err(|error| {
        let place = detached.cwd.display();
        io::Error::new(
            error.kind(),
            format!("cannot start {} in {place}: {error}", detached.program.display()),
        )
    })?;
    reap::expect_end_of(&child)
}

#[cfg(test)]
mod tests {
    use rustix::io::{FdFlags, dup, fcntl_getfd};

    use super::*;

    #[test]
    fn what_was_open_before_goes_nowhere() {
        let left_open = dup(File::open("/dev/null").unwrap()).unwrap();
        assert!(!fcntl_getfd(&left_open).unwrap().contains(FdFlags::CLOEXEC));
        pass_no_descriptors();
        assert!(fcntl_getfd(&left_open).unwrap().contains(FdFlags::CLOEXEC));
    }
}
