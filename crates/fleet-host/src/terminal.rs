//! The terminal of a person: pagers, and keys as they are pressed.

use std::io::{self, Read as _};
use std::process::{Child, Command, Stdio};

use rustix::process::{Signal, getpgrp};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcgetwinsize, tcsetattr};

/// Starts a pager that reads what is written to its standard input. The setting may carry arguments; it is split at spaces
/// and never goes through a shell. `variables` are added to its environment.
#[expect(clippy::disallowed_methods, reason = "this crate is the home of processes")]
pub fn start_pager(pager: &str, variables: &[(&str, &str)]) -> io::Result<Child> {
    let mut words = pager.split_whitespace();
    let program = words.next().ok_or(io::ErrorKind::NotFound)?;
    Command::new(program).args(words).envs(variables.iter().copied()).stdin(Stdio::piped()).spawn()
}

/// Keys of the terminal that standard input is, without Enter and without echo, until it is dropped. Ctrl-C stays what it is.
#[derive(Debug)]
pub struct Keys {
    before: Termios,
    now: Termios,
}

impl Keys {
    /// The signal of a process that continues after it was stopped.
    pub const CONTINUED: i32 = Signal::CONT.as_raw();

    /// None if standard input is not a terminal, or one that another program has now: changing it would stop this process.
    pub fn listen() -> Option<Self> {
        let before = tcgetattr(io::stdin()).ok()?;
        if !is_in_front() {
            return None;
        }
        let mut now = before.clone();
        now.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        tcsetattr(io::stdin(), OptionalActions::Now, &now).ok()?;
        Some(Self { before, now })
    }

    /// Listens again after the process was stopped and continued: a shell has set the terminal as it likes it. Does nothing
    /// in the background.
    pub fn listen_again(&self) {
        if is_in_front() {
            // Nothing better can be done: the terminal may be gone.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.now);
        }
    }

    /// Waits for the next key; none at the end of input.
    pub fn next() -> Option<u8> {
        let mut key = [0];
        io::stdin().read_exact(&mut key).ok().map(|()| key[0])
    }
}

/// The terminal that standard input is, with every key as it is pressed, Ctrl-C included, until this is dropped.
#[derive(Debug)]
pub struct RawTerminal {
    before: Termios,
}

impl RawTerminal {
    pub fn enter() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
        Ok(Self { before })
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        // Nothing better can be done: the terminal may be gone.
        let _ = tcsetattr(io::stdin(), OptionalActions::Flush, &self.before);
    }
}

/// The rows and columns of the terminal that standard output is.
pub fn terminal_size() -> Option<(u16, u16)> {
    let size = tcgetwinsize(io::stdout()).ok()?;
    Some((size.ws_row, size.ws_col)).filter(|(rows, columns)| *rows > 0 && *columns > 0)
}

/// Whether the terminal is this program's now.
fn is_in_front() -> bool {
    tcgetpgrp(io::stdin()).is_ok_and(|group| group == getpgrp())
}

impl Drop for Keys {
    fn drop(&mut self) {
        // Nothing better can be done: the terminal may be gone.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}
