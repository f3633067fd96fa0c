//! Starting a process that outlives this one.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::Identity;
use super::reap;

/// What to start, and where.
#[derive(Clone)]
pub struct Detached {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its whole environment. `None`: that of this process.
    pub env: Option<Vec<(OsString, OsString)>>,
    /// The directory to start it in.
    pub cwd: PathBuf,
    /// The file that its output and complaints are appended to.
    pub log: PathBuf,
}

/// Starts a process that goes on when this one ends. It reads nothing and writes to its log.
///
/// It has to call [`new_session`](super::new_session) first thing: until then a Ctrl-C at this terminal reaches it.
/// (Starting it in a process group of its own would close that gap, and would keep it from ever leading a session.)
/// As long as this process lives, [`reap`](super::reap) has to be called now and then, or the dead pile up.
#[expect(clippy::disallowed_methods, reason = "this crate is the home of processes")]
pub fn spawn_detached(detached: &Detached) -> io::Result<Identity> {
    let log =
        OpenOptions::new().append(true).create(true).mode(0o600).open(&detached.log).map_err(|error| {
            io::Error::new(error.kind(), format!("cannot write {}: {error}", detached.log.display()))
        })?;
    let mut command = Command::new(&detached.program);
    command.args(&detached.args).current_dir(&detached.cwd);
    if let Some(env) = &detached.env {
        command.env_clear().envs(env.iter().map(|(name, value)| (name, value)));
    }
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    let child = command.spawn().map_err(|error| {
        let place = detached.cwd.display();
        io::Error::new(
            error.kind(),
            format!("cannot start {} in {place}: {error}", detached.program.display()),
        )
    })?;
    reap::expect_end_of(&child)
}
