//! A person at a terminal of a certain size, who types and reads the screen.

use std::io::{Read as _, Write as _};
use std::num::NonZeroU16;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use pty_process::Size;
use pty_process::blocking::{Command as TerminalCommand, Pty, open};

use crate::wait::becomes_true;

/// How long a person waits for something to appear, on a machine that is busy with everything else.
const PATIENCE: Duration = Duration::from_mins(1);

/// Somebody who runs a command in a terminal of his own. The command is killed with it.
pub struct Person {
    child: Child,
    terminal: Arc<Pty>,
    shown: Arc<Mutex<Shown>>,
}

struct Shown {
    emulator: vt100::Parser,
    /// Everything that came, for tests that look for what must not come.
    bytes: Vec<u8>,
    is_over: bool,
}

impl Person {
    /// Runs a command in a terminal with so many columns and rows.
    #[track_caller]
    pub fn run(command: Command, columns: u16, rows: u16) -> Self {
        let (terminal, other) = open().expect("a pseudo-terminal");
        terminal.resize(Size::new(rows, columns)).expect("a size");
        let mut command = command;
        command.env("TERM", "xterm-256color");
        let child = TerminalCommand::from(command).spawn(other).expect("a command in a terminal");
        let terminal = Arc::new(terminal);
        let emulator = vt100::Parser::new(positive(rows), positive(columns), 0);
        let shown = Arc::new(Mutex::new(Shown { emulator, bytes: Vec::new(), is_over: false }));
        let (reader, kept) = (Arc::clone(&terminal), Arc::clone(&shown));
        thread::spawn(move || read(&reader, &kept));
        Self { child, terminal, shown }
    }

    fn with<T>(&self, look: impl FnOnce(&mut Shown) -> T) -> T {
        look(&mut self.shown.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What the screen shows, without blanks at the ends of lines and without the empty lines at its end.
    pub fn screen(&self) -> String {
        self.with(|shown| {
            let (_, columns) = shown.emulator.screen().size();
            let rows: Vec<String> =
                shown.emulator.screen().rows(0, columns.get()).map(|row| row.trim_end().to_owned()).collect();
            rows.join("\n").trim_end().to_owned()
        })
    }

    /// Everything that came to the terminal.
    pub fn bytes(&self) -> Vec<u8> {
        self.with(|shown| shown.bytes.clone())
    }

    #[track_caller]
    pub fn types(&self, keys: impl AsRef<[u8]>) {
        (&*self.terminal).write_all(keys.as_ref()).expect("a terminal that takes keys");
    }

    /// Types something, and says how long it took until anything came back.
    #[track_caller]
    pub fn reacts_to(&self, keys: impl AsRef<[u8]>) -> Duration {
        let length = || self.with(|shown| shown.bytes.len());
        let (before, began) = (length(), Instant::now());
        self.types(keys);
        while length() == before {
            assert!(began.elapsed() < PATIENCE, "nothing came back; the screen:\n{}", self.screen());
            thread::sleep(Duration::from_micros(20));
        }
        began.elapsed()
    }

    /// Waits until the screen shows something.
    #[track_caller]
    pub fn sees(&self, what: &str) {
        self.sees_when(what, |screen| screen.contains(what));
    }

    /// Waits until the screen is as it should be.
    #[track_caller]
    pub fn sees_when(&self, what: &str, is_it: impl Fn(&str) -> bool) {
        let seen = becomes_true(PATIENCE, || is_it(&self.screen()));
        assert!(seen, "waited in vain for {what:?}; the screen:\n{}", self.screen());
    }

    #[track_caller]
    pub fn resizes(&self, columns: u16, rows: u16) {
        self.with(|shown| shown.emulator.screen_mut().set_size(positive(rows), positive(columns)));
        self.terminal.resize(Size::new(rows, columns)).expect("another size");
    }

    /// Waits for the end of the command; its exit status.
    #[track_caller]
    pub fn leaves(mut self) -> i32 {
        let ended = becomes_true(PATIENCE, || self.child.try_wait().is_ok_and(|status| status.is_some()));
        assert!(ended, "the command does not end; the screen:\n{}", self.screen());
        let status = self.child.wait().expect("an exit status");
        becomes_true(PATIENCE, || self.with(|shown| shown.is_over));
        status.code().unwrap_or(-1)
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Kills the command without a warning.
    pub fn is_killed(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn positive(number: u16) -> NonZeroU16 {
    NonZeroU16::new(number).expect("a size")
}

fn read(terminal: &Pty, shown: &Mutex<Shown>) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = (&*terminal).read(&mut buffer) {
        let mut shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.emulator.process(&buffer[..count]);
        shown.bytes.extend(&buffer[..count]);
    }
    shown.lock().unwrap_or_else(PoisonError::into_inner).is_over = true;
}
