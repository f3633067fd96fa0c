//! Which process is meant.

use std::io;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, getpid};
use serde::{Deserialize, Serialize};

use super::handle::ProcessHandle;
use super::table::{self, ProcessEntry, ProcessState};
use crate::bounded_wait::BoundedWait;

/// The longest pause between two looks at a process where the kernel does not report its end.
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// One process and no other: a number is given again after a while, and after a boot at once.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Identity {
    pub pid: i32,
    /// When it was started, in a unit of the system.
    pub start: u64,
    /// The boot that it was started in.
    pub boot: String,
}

impl Identity {
    /// The process that has this number now, alive or a zombie.
    pub fn of(pid: i32) -> Option<Self> {
        table::one(pid).map(|entry| Self::from_entry(&entry))
    }

    /// The boot that all living processes were started in.
    pub fn current_boot() -> &'static str {
        table::boot()
    }

    pub fn current() -> Self {
        let pid = getpid().as_raw_pid();
        // Without a table of processes nothing can be compared with this, and nothing will be taken for it.
        Self::of(pid).unwrap_or_else(|| Self { pid, start: 0, boot: table::boot().to_owned() })
    }

    pub(super) fn from_entry(entry: &ProcessEntry) -> Self {
        Self { pid: entry.pid, start: entry.start, boot: table::boot().to_owned() }
    }

    /// Whether the process runs. One that has ended and is only waited for does not.
    pub fn is_alive(&self) -> bool {
        self.entry().is_some_and(|entry| entry.state != ProcessState::Dead)
    }

    /// Whether it is stopped: it does nothing until it is continued or killed.
    pub fn is_stopped(&self) -> bool {
        self.entry().is_some_and(|entry| entry.state == ProcessState::Stopped)
    }

    /// Whether it has ended, or was killed and is about to: the kernel takes a moment, in which its locks are held.
    /// Where the system does not report the latter, only whether it has ended. One of another boot may live on another
    /// machine.
    pub fn is_doomed(&self) -> bool {
        self.boot == table::boot() && (!self.is_alive() || table::is_doomed(self.pid))
    }

    /// How long ago it was started, if it is there and the system tells.
    pub fn age(&self) -> Option<Duration> {
        self.entry().and_then(|entry| table::age(entry.start))
    }

    /// Whether this is the process of an entry.
    pub(super) fn is(&self, entry: &ProcessEntry) -> bool {
        self.pid == entry.pid && self.start == entry.start && self.boot == table::boot()
    }

    /// Never the first process, and never a number below it, which would mean many processes to the kernel.
    fn hold(&self) -> io::Result<Option<ProcessHandle>> {
        let pid = if self.pid > 1 { Pid::from_raw(self.pid) } else { None };
        pid.map_or(Ok(None), ProcessHandle::of)
    }

    fn entry(&self) -> Option<ProcessEntry> {
        table::one(self.pid).filter(|entry| self.is(entry))
    }

    /// Sends a signal. False when the process has ended, even if another one has its number now.
    ///
    /// On Linux the process is held by a descriptor before it is checked, so that it cannot become another one between
    /// the check and the signal. Elsewhere, and on kernels before 5.3, that is possible within microseconds.
    pub fn signal(&self, signal: Signal) -> io::Result<bool> {
        let Some(hold) = self.hold()? else { return Ok(false) };
        if !self.is_alive() {
            return Ok(false);
        }
        match hold.send(signal) {
            Ok(()) => Ok(true),
            Err(Errno::SRCH) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits at most this long until the process has ended; true when it has. It need not be a child of this one, and
    /// is not reaped.
    pub fn wait_for_end(&self, bound: Duration) -> io::Result<bool> {
        let mut patience = BoundedWait::new(bound, LONGEST_PAUSE);
        let Some(hold) = self.hold()? else { return Ok(true) };
        loop {
            if !self.is_alive() {
                return Ok(true);
            }
            if !hold.pause(&mut patience)? {
                return Ok(!self.is_alive());
            }
        }
    }
}
