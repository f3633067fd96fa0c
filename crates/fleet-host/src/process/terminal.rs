//! Starting a program in a pseudo-terminal.
//!
//! Owns the side of the terminal that a person would sit at: it reads what the program shows and writes what is typed. Must
//! never interpret either; that is for [`screen`](crate::screen).

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;

use pty_process::blocking::{Command as TerminalCommand, Pts, Pty, open};
use pty_process::{Error as PtyError, Size};
use rustix::io::Errno;
use rustix::termios::{Winsize, tcsetwinsize};

use super::launch::{self, Launch, LaunchError};
use super::{Identity, reap};
use crate::TerminalSize;

/// A program that was started as the leader of its own session, and of the foreground process group of its terminal.
#[derive(Debug)]
pub struct TerminalStarted {
    pub identity: Identity,
    pub terminal: Terminal,
}

/// Our side of a pseudo-terminal. When the last handle, reader and writer are gone, the kernel hangs up: the programs in
/// the foreground get `SIGHUP`.
#[derive(Debug, Clone)]
pub struct Terminal {
    file: Arc<File>,
}

/// Starts a program in a new terminal. [`reap`](super::reap) reports its end, and has to be called until then. It reads
/// from the terminal, so [`Launch::stdin`] does not count; `TERM` is among the variables of the launch, if anywhere.
///
/// No program inherits our side of the terminal. There is one gap: it is opened and marked in two steps, because macOS has no
/// other way, and a program that another thread starts between the two would have it.
pub fn launch_in_terminal(launch: &Launch, size: TerminalSize) -> Result<TerminalStarted, LaunchError> {
    let (ours, theirs) = open_sized(size)
        .map_err(|source| LaunchError::Terminal { program: launch.program.clone(), source: plain(source) })?;
    let command = TerminalCommand::from(launch::command(launch));
    // Their side is closed here as soon as the program has it: otherwise the end of output would never come.
    let child = command.spawn(theirs).map_err(|error| launch::explain(launch, plain(error)))?;
    let identity = reap::expect_end_of(&child)
        .map_err(|source| LaunchError::Io { program: launch.program.clone(), source })?;
    Ok(TerminalStarted { identity, terminal: Terminal { file: Arc::new(File::from(OwnedFd::from(ours))) } })
}

fn open_sized(size: TerminalSize) -> Result<(Pty, Pts), PtyError> {
    let (ours, theirs) = open()?;
    ours.resize(Size::new(size.rows(), size.columns()))?;
    Ok((ours, theirs))
}

fn plain(error: PtyError) -> io::Error {
    match error {
        PtyError::Io(error) => error,
        PtyError::Rustix(error) => error.into(),
    }
}

impl Terminal {
    /// Reads what the programs in the terminal show.
    pub fn reader(&self) -> TerminalReader {
        TerminalReader(self.clone())
    }

    /// Writes what is typed. It waits while the program does not read and the terminal is full, which may be forever, so it
    /// needs its own thread.
    pub fn writer(&self) -> TerminalWriter {
        TerminalWriter(self.clone())
    }

    /// Tells the programs in the terminal its new size: those in the foreground get `SIGWINCH` if it is another one.
    pub fn resize(&self, size: TerminalSize) -> io::Result<()> {
        let size = Winsize { ws_row: size.rows(), ws_col: size.columns(), ws_xpixel: 0, ws_ypixel: 0 };
        Ok(tcsetwinsize(self.file.as_fd(), size)?)
    }
}

/// Waits for output. It ends when no process has the terminal open any more; on macOS, when the program that was started
/// has ended.
#[derive(Debug)]
pub struct TerminalReader(Terminal);

impl Read for TerminalReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match (&*self.0.file).read(buffer) {
            // How Linux reports the end.
            Err(error) if Errno::from_io_error(&error) == Some(Errno::IO) => Ok(0),
            other => other,
        }
    }
}

#[derive(Debug)]
pub struct TerminalWriter(Terminal);

impl Write for TerminalWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self.0.file).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
