//! Who holds the lock between processes when it does not become free.
//!
//! A process that is stopped (SIGSTOP, Ctrl-Z) in the middle of a write blocks all writers until it continues. Keepers,
//! repairs and runners may be killed at any instant without a loss, so those that stay stopped are; a command of a
//! person, or another program, is only named. The kernel tells who holds a lock in `/proc/locks`; without such a file
//! no holder is found, and callers learn only that the store is busy.

use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use rustix::process::{Pid, Signal};
use tokio::sync::oneshot::Receiver;
use tokio::sync::oneshot::error::RecvError;

use super::connection::beside;
use crate::StoreError;
use crate::store::BUSY_TIMEOUT;

/// How often waiters check who holds the lock.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// However long a lease is: after this long a stopped holder is ended, before its waiters give up.
const LONGEST_STOP: Duration = Duration::from_secs(25);

/// The list of all locks is read page by page, and lines are missed when others lock and unlock meanwhile.
const READS: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq)]
struct LockHolder {
    pid: i32,
    program: HolderProgram,
    is_stopped: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HolderProgram {
    Keeper,
    Runner,
    Repair,
    /// Another command of the same binary, which a person may have stopped on purpose.
    Command,
    Unknown,
}

impl fmt::Display for LockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = match self.program {
            HolderProgram::Keeper => " (a fleet keeper)",
            HolderProgram::Runner => " (a fleet runner)",
            HolderProgram::Repair => " (a fleet repair)",
            HolderProgram::Command => " (a fleet command)",
            HolderProgram::Unknown => "",
        };
        let pid = self.pid;
        write!(f, "process {pid}{program} holds it")?;
        if self.is_stopped { write!(f, " and is stopped; `kill -CONT {pid}` continues it") } else { Ok(()) }
    }
}

/// Waits for the lock file of a store, with an eye on its holder.
pub(super) struct LockWatch {
    lock: PathBuf,
    /// How long a keeper or runner may be stopped before it is ended; no process is ended while this is unknown.
    lease: OnceLock<Duration>,
}

impl LockWatch {
    pub(super) fn of(path: &Path) -> Self {
        Self { lock: beside(path, ".lock"), lease: OnceLock::new() }
    }

    /// From now on keepers and runners that hold the lock while they are stopped for this long are ended.
    pub(super) fn set_lease(&self, lease: Duration) {
        let _ = self.lease.set(lease.min(LONGEST_STOP));
    }

    /// Waits for an answer of the writing thread; nothing when all patience is used up.
    pub(super) async fn wait<T>(&self, answer: &mut Receiver<T>) -> Option<Result<T, RecvError>> {
        let mut stopped_for = StoppedFor::default();
        for _ in 0..BUSY_TIMEOUT.as_secs() / POLL_INTERVAL.as_secs() {
            if let Ok(answered) = tokio::time::timeout(POLL_INTERVAL, &mut *answer).await {
                return Some(answered);
            }
            if let Some(pid) =
                stopped_for.process_to_end(find(&self.lock).as_ref(), self.lease.get().copied())
            {
                let _ = rustix::process::kill_process(pid, Signal::KILL);
            }
        }
        None
    }

    /// The error that the wait is over, with the holder of the lock.
    pub(super) fn busy(&self) -> StoreError {
        busy(&self.lock)
    }

    /// A sentence about a stopped process that blocks all writers.
    pub(super) fn stopped_holder(&self) -> Option<String> {
        find(&self.lock).filter(|holder| holder.is_stopped).map(|holder| holder.to_string())
    }
}

/// The same for a caller that waits for a lock file itself.
pub(super) fn busy(lock: &Path) -> StoreError {
    let holder = find(lock).map(|holder| holder.to_string());
    StoreError::Busy { seconds: BUSY_TIMEOUT.as_secs(), holder }
}

/// How long the same process was seen stopped, in one wait.
#[derive(Debug, Default)]
struct StoppedFor {
    pid: Option<i32>,
    polls: u32,
}

impl StoppedFor {
    /// Which process to end, after one more check. Called once in each [`POLL_INTERVAL`].
    fn process_to_end(&mut self, holder: Option<&LockHolder>, lease: Option<Duration>) -> Option<Pid> {
        let stopped = holder.filter(|holder| holder.is_stopped);
        let pid = stopped.map(|holder| holder.pid);
        self.polls = if pid.is_some() && pid == self.pid { self.polls + 1 } else { 0 };
        self.pid = pid;
        let is_ours =
            matches!(stopped?.program, HolderProgram::Keeper | HolderProgram::Runner | HolderProgram::Repair);
        if is_ours && POLL_INTERVAL * self.polls >= lease? { Pid::from_raw(pid?) } else { None }
    }
}

fn find(lock: &Path) -> Option<LockHolder> {
    let file = fs::metadata(lock).ok()?;
    let read = |_| owner(&fs::read_to_string("/proc/locks").ok()?, file.dev(), file.ino());
    let pid = (0..READS).find_map(read)?;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let arguments = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let is_stopped = stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'));
    Some(LockHolder { pid, program: program(&arguments), is_stopped })
}

/// Who holds a lock on a whole file, from the text of `/proc/locks`. Some file systems have another device there than the
/// one that their files tell; then the number of the file must do.
fn owner(locks: &str, device: u64, inode: u64) -> Option<i32> {
    let held = || locks.lines().filter_map(|line| held_lock(line, inode));
    let device = format!("{:02x}:{:02x}", rustix::fs::major(device), rustix::fs::minor(device));
    let exact = held().find(|(_, on)| *on == device);
    exact.or_else(|| held().next()).map(|(pid, _)| pid).filter(|pid| *pid > 0)
}

/// The process and the device of a line like `1: FLOCK ADVISORY WRITE 4711 08:01:1234 0 EOF`; nothing for other kinds
/// of locks, for other files, and for those who wait (`1: -> FLOCK …`).
fn held_lock(line: &str, inode: u64) -> Option<(i32, &str)> {
    let mut words = line.split_ascii_whitespace().skip(1);
    let is_whole = words.next()? == "FLOCK";
    let mut words = words.skip(2);
    let pid = words.next()?.parse().ok()?;
    let (device, of) = words.next()?.rsplit_once(':')?;
    (is_whole && of.parse() == Ok(inode)).then_some((pid, device))
}

/// What a process is, from its arguments.
fn program(arguments: &[u8]) -> HolderProgram {
    let mut arguments = arguments.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    let binary = arguments.next().unwrap_or_default();
    if !matches!(Path::new(&*binary).file_name().and_then(|name| name.to_str()), Some("fleet" | "flt")) {
        return HolderProgram::Unknown;
    }
    match arguments.next().as_deref() {
        // `shim` is what earlier versions called it.
        Some("keeper" | "shim") => HolderProgram::Keeper,
        Some("run") => HolderProgram::Runner,
        Some("repair") => HolderProgram::Repair,
        _ => HolderProgram::Command,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCKS: &str = "1: POSIX  ADVISORY  WRITE 11 08:01:77 0 EOF\n\
                         2: FLOCK  ADVISORY  WRITE 12 08:02:77 0 EOF\n\
                         3: FLOCK  ADVISORY  WRITE 13 08:01:77 0 EOF\n\
                         3: -> FLOCK  ADVISORY  WRITE 14 08:01:77 0 EOF\n\
                         4: FLOCK  ADVISORY  WRITE 15 00:2f:78 0 EOF\n";

    #[test]
    fn the_holder_is_told_from_those_who_wait_and_from_other_locks() {
        let device = |minor| rustix::fs::makedev(8, minor);
        assert_eq!(owner(LOCKS, device(1), 77), Some(13));
        assert_eq!(owner(LOCKS, device(2), 77), Some(12));
        assert_eq!(owner(LOCKS, device(1), 78), Some(15), "a file system that tells another device");
        assert_eq!(owner(LOCKS, device(1), 79), None);
        assert_eq!(owner("garbage\n1: FLOCK\n", device(1), 77), None);
        assert_eq!(
            owner("1: FLOCK ADVISORY WRITE 0 08:01:77 0 EOF", device(1), 77),
            None,
            "not visible from here"
        );
    }

    #[test]
    fn processes_are_known_by_their_arguments() {
        assert_eq!(program(b"/usr/bin/fleet\0keeper\0r1\0"), HolderProgram::Keeper);
        assert_eq!(program(b"/usr/bin/fleet\0shim\0r1\0"), HolderProgram::Keeper, "of an earlier version");
        assert_eq!(program(b"fleet\0run\0--background\0"), HolderProgram::Runner);
        assert_eq!(program(b"flt\0repair\0r1\0"), HolderProgram::Repair);
        assert_eq!(program(b"fleet\0task\0add\0"), HolderProgram::Command);
        assert_eq!(program(b"sqlite3\0run\0"), HolderProgram::Unknown);
        assert_eq!(program(b""), HolderProgram::Unknown);
    }

    fn stopped(pid: i32, program: HolderProgram) -> LockHolder {
        LockHolder { pid, program, is_stopped: true }
    }

    /// After how many polls somebody is ended, if each sees this.
    fn ended_after(holder: &LockHolder, lease: Option<Duration>) -> Option<usize> {
        let mut stopped_for = StoppedFor::default();
        (1..100).find(|_| stopped_for.process_to_end(Some(holder), lease).is_some())
    }

    #[test]
    fn only_our_own_are_ended_and_only_after_a_lease() {
        let lease = Some(POLL_INTERVAL * 3);
        assert_eq!(ended_after(&stopped(7, HolderProgram::Keeper), lease), Some(4));
        assert_eq!(ended_after(&stopped(7, HolderProgram::Runner), lease), Some(4));
        assert_eq!(ended_after(&stopped(7, HolderProgram::Command), lease), None);
        assert_eq!(ended_after(&stopped(7, HolderProgram::Unknown), lease), None);
        assert_eq!(ended_after(&stopped(7, HolderProgram::Keeper), None), None);
        let running = LockHolder { is_stopped: false, ..stopped(7, HolderProgram::Keeper) };
        assert_eq!(ended_after(&running, lease), None);
    }

    #[test]
    fn a_stop_counts_only_while_it_lasts() {
        let (lease, keeper) = (Some(POLL_INTERVAL * 2), stopped(7, HolderProgram::Keeper));
        for other in [
            None,
            Some(stopped(8, HolderProgram::Keeper)),
            Some(LockHolder { is_stopped: false, ..keeper.clone() }),
        ] {
            let mut stopped_for = StoppedFor::default();
            let seen = [Some(&keeper), Some(&keeper), other.as_ref(), Some(&keeper), Some(&keeper)];
            assert_eq!(seen.map(|holder| stopped_for.process_to_end(holder, lease)), [None; 5], "{other:?}");
            assert_eq!(stopped_for.process_to_end(Some(&keeper), lease), Pid::from_raw(7));
        }
    }

    #[test]
    fn the_sentence_says_what_to_do() {
        let said = stopped(7, HolderProgram::Keeper).to_string();
        assert_eq!(said, "process 7 (a fleet keeper) holds it and is stopped; `kill -CONT 7` continues it");
    }
}
