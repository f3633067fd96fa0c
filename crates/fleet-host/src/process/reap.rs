//! Being the parent of processes, one's own and those of others.

use std::process::Child;
use std::sync::{Mutex, PoisonError};
use std::{fmt, io};

use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, WaitStatus, setsid, waitpid};
use serde::{Deserialize, Serialize};

use super::Identity;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    Signal(i32),
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "ended with exit status {code}"),
            Self::Signal(signal) => write!(f, "was ended by signal {signal}"),
        }
    }
}

/// The children whose end [`reap`] reports, and for which no one else waits.
static LAUNCHED: Mutex<Vec<Identity>> = Mutex::new(Vec::new());

/// From now on [`reap`] reports the end of this child. Its handle may be dropped.
pub(super) fn expect_end_of(child: &Child) -> io::Result<Identity> {
    let pid = Pid::from_child(child).as_raw_pid();
    // It is there even when it has ended already, because no process has waited for it.
    let identity = Identity::of(pid).ok_or_else(|| {
        io::Error::other(format!("the process {pid} was started, but the system does not show it"))
    })?;
    LAUNCHED.lock().unwrap_or_else(PoisonError::into_inner).push(identity.clone());
    Ok(identity)
}

/// Makes this process the parent of all its descendants whose own parents end. False where the system does not know
/// that, as on macOS.
pub fn become_subreaper() -> bool {
    #[cfg(target_os = "linux")]
    return super::adopted::become_subreaper();
    #[cfg(not(target_os = "linux"))]
    false
}

/// Whether it is certain that no process descends from this one. Never, where there are no subreapers.
pub(super) fn has_no_descendants() -> bool {
    #[cfg(target_os = "linux")]
    return super::adopted::is_childless();
    #[cfg(not(target_os = "linux"))]
    false
}

/// Closes the memory, the environment and the descriptors of this process to other processes of the same user, as far as the
/// system can (Linux). What it starts is not affected.
pub fn forbid_dumps() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        // It works everywhere; and a process that could be looked at is no reason not to work.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

/// Makes this process the leader of its own session, without a terminal: no Ctrl-C or closed window ends it. An
/// error when it leads a process group already.
pub fn new_session() -> io::Result<()> {
    setsid()?;
    Ok(())
}

/// Takes note of all children that have ended: those that were launched here, and those that this process has become
/// the parent of. Children that are started and waited for elsewhere in this process are left to their waiters.
pub fn reap() -> Vec<(i32, Exit)> {
    let mut ended = Vec::new();
    let mut launched = LAUNCHED.lock().unwrap_or_else(PoisonError::into_inner);
    launched.retain(|child| match wait_for(child.pid) {
        Waited::Runs => true,
        Waited::Ended(exit) => {
            ended.push((child.pid, exit));
            false
        }
        Waited::NotOurs => false,
    });
    drop(launched);
    #[cfg(target_os = "linux")]
    ended.extend(super::adopted::reap());
    ended
}

pub(super) enum Waited {
    Runs,
    Ended(Exit),
    NotOurs,
}

/// Asks for the end of a child, without waiting.
pub(super) fn wait_for(pid: i32) -> Waited {
    let Some(pid) = Pid::from_raw(pid) else { return Waited::NotOurs };
    loop {
        match waitpid(Some(pid), WaitOptions::NOHANG) {
            Ok(None) => return Waited::Runs,
            Ok(Some((_, status))) => return exit_of(status).map_or(Waited::Runs, Waited::Ended),
            Err(Errno::INTR) => {}
            Err(_) => return Waited::NotOurs,
        }
    }
}

fn exit_of(status: WaitStatus) -> Option<Exit> {
    status.exit_status().map(Exit::Code).or(status.terminating_signal().map(Exit::Signal))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::process::{DumpableBehavior, dumpable_behavior};

    use super::*;

    #[test]
    fn a_process_can_close_itself_to_others() {
        forbid_dumps();
        assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
        assert_eq!(Identity::of(rustix::process::getpid().as_raw_pid()), Some(Identity::current()));
        assert!(std::env::current_exe().is_ok(), "it still finds itself");
    }
}
