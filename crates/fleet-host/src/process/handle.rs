//! Keeps the number of a process from being reused.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};

use crate::bounded_wait::BoundedWait;

/// A day is long enough, and fits every type.
const LONGEST_POLL: Duration = Duration::from_hours(24);

/// A living process, held if the kernel can hold processes.
pub(super) struct ProcessHandle {
    pid: Pid,
    descriptor: Option<OwnedFd>,
}

impl ProcessHandle {
    /// The process that has this number now. `None` when there is none.
    pub(super) fn of(pid: Pid) -> io::Result<Option<Self>> {
        match open(pid) {
            Ok(descriptor) => Ok(Some(Self { pid, descriptor })),
            Err(Errno::SRCH) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn send(&self, signal: Signal) -> rustix::io::Result<()> {
        match self.descriptor.as_ref().map(|descriptor| send_to(descriptor, signal)) {
            None | Some(Err(Errno::NOSYS)) => kill_process(self.pid, signal),
            Some(outcome) => outcome,
        }
    }

    /// Waits for the end of the process, or for a moment where the kernel does not report it. False when the time is
    /// over.
    pub(super) fn pause(&self, patience: &mut BoundedWait) -> io::Result<bool> {
        let Some(descriptor) = &self.descriptor else { return Ok(patience.pause()) };
        let left = Timespec::try_from(patience.left().min(LONGEST_POLL))
            .map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        match poll(&mut [PollFd::new(descriptor, PollFlags::IN)], Some(&left)) {
            Ok(_) | Err(Errno::INTR) => Ok(!patience.left().is_zero()),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(target_os = "linux")]
fn open(pid: Pid) -> rustix::io::Result<Option<OwnedFd>> {
    use rustix::process::{PidfdFlags, pidfd_open};
    match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(descriptor) => Ok(Some(descriptor)),
        // The latter two are what sandboxes answer that do not know the call.
        Err(Errno::NOSYS | Errno::PERM | Errno::ACCESS) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(not(target_os = "linux"))]
fn open(pid: Pid) -> rustix::io::Result<Option<OwnedFd>> {
    match rustix::process::test_kill_process(pid) {
        Err(Errno::SRCH) => Err(Errno::SRCH),
        _ => Ok(None),
    }
}

#[cfg(target_os = "linux")]
fn send_to(descriptor: &OwnedFd, signal: Signal) -> rustix::io::Result<()> {
    rustix::process::pidfd_send_signal(descriptor, signal)
}

#[cfg(not(target_os = "linux"))]
fn send_to(_descriptor: &OwnedFd, _signal: Signal) -> rustix::io::Result<()> {
    Err(Errno::NOSYS)
}
