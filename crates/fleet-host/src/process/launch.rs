//! Starting an agent, or anything else that a run needs.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::Identity;
use super::reap;

#[derive(Clone)]
pub struct Launch {
    /// The program: a path, or a name to be found in the `PATH` of `env`. It never goes through a shell.
    pub program: PathBuf,
    pub args: Vec<OsString>,
    /// Nothing is inherited.
    pub env: Vec<(OsString, OsString)>,
    pub cwd: PathBuf,
    pub stdin: StdinFrom,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StdinFrom {
    Null,
    File(PathBuf),
    Pipe,
}

/// A process that was started, as the leader of its own process group.
#[derive(Debug)]
pub struct Started {
    pub identity: Identity,
    /// Written by it and its children.
    pub stdout: PipeReader,
    /// Written by it and its children.
    pub stderr: PipeReader,
    /// Only with [`StdinFrom::Pipe`].
    pub stdin: Option<PipeWriter>,
}

#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    #[error("cannot start {}: there is no such program; install it, or set its path", .program.display())]
    NotFound { program: PathBuf },
    /// It is a script, and what is to read it is missing.
    #[error("cannot start {}: the interpreter that its first line names is missing", .program.display())]
    NoInterpreter { program: PathBuf },
    #[error("cannot start {}: it is not executable for you; check its permissions", .program.display())]
    NotExecutable { program: PathBuf },
    #[error("cannot start {} in {}: there is no such directory", .program.display(), .cwd.display())]
    NoDirectory { program: PathBuf, cwd: PathBuf },
    /// The file to read from cannot be opened.
    #[error("cannot open {} for {} to read", .path.display(), .program.display())]
    Input { program: PathBuf, path: PathBuf, source: io::Error },
    #[error("cannot open a terminal for {}", .program.display())]
    Terminal { program: PathBuf, source: io::Error },
    /// Anything else, such as too many processes or arguments that are too long.
    #[error("cannot start {}", .program.display())]
    Io { program: PathBuf, source: io::Error },
}

/// Starts a process in its own process group, with pipes to its output. [`reap`](super::reap) reports its end, and has
/// to be called until then.
pub fn launch(launch: &Launch) -> Result<Started, LaunchError> {
    let child = piped(launch)?.spawn().map_err(|error| explain(launch, error))?;
    started(child).map_err(|source| LaunchError::Io { program: launch.program.clone(), source })
}

fn piped(launch: &Launch) -> Result<Command, LaunchError> {
    let stdin =
        match &launch.stdin {
            StdinFrom::Null => Stdio::null(),
            StdinFrom::Pipe => Stdio::piped(),
            StdinFrom::File(path) => File::open(path).map(Stdio::from).map_err(|source| {
                LaunchError::Input { program: launch.program.clone(), path: path.clone(), source }
            })?,
        };
    let mut command = command(launch);
    command.process_group(0).stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    Ok(command)
}

/// What to start, without its standard streams and its process group.
#[expect(clippy::disallowed_methods, reason = "this crate is the home of processes")]
pub(super) fn command(launch: &Launch) -> Command {
    let mut command = Command::new(&launch.program);
    command.args(&launch.args).env_clear().envs(launch.env.iter().map(|(name, value)| (name, value)));
    command.current_dir(&launch.cwd);
    command
}

fn started(mut child: Child) -> io::Result<Started> {
    let identity = reap::expect_end_of(&child)?;
    let reader = |pipe: Option<OwnedFd>| pipe.map(PipeReader::from).ok_or(io::ErrorKind::BrokenPipe);
    Ok(Started {
        identity,
        stdout: reader(child.stdout.take().map(OwnedFd::from))?,
        stderr: reader(child.stderr.take().map(OwnedFd::from))?,
        stdin: child.stdin.take().map(|pipe| PipeWriter::from(OwnedFd::from(pipe))),
    })
}

/// The system says "not found" about programs, interpreters and directories alike.
pub(super) fn explain(launch: &Launch, source: io::Error) -> LaunchError {
    let program = launch.program.clone();
    match source.kind() {
        _ if !launch.cwd.is_dir() => LaunchError::NoDirectory { program, cwd: launch.cwd.clone() },
        io::ErrorKind::NotFound if is_file(launch) => LaunchError::NoInterpreter { program },
        io::ErrorKind::NotFound => LaunchError::NotFound { program },
        io::ErrorKind::PermissionDenied => LaunchError::NotExecutable { program },
        _ => LaunchError::Io { program, source },
    }
}

/// Whether there is an executable file for the program, there or on the path.
fn is_file(launch: &Launch) -> bool {
    let executable = |path: &Path| {
        fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    if launch.program.components().nth(1).is_some() {
        return executable(&launch.cwd.join(&launch.program));
    }
    let search = launch.env.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value);
    search.is_some_and(|path| {
        std::env::split_paths(path).any(|folder| executable(&launch.cwd.join(folder).join(&launch.program)))
    })
}
