//! A group of processes that its members cannot leave.
//!
//! Owns the control group (Linux, version 2) of a run, where one may be made: in a scope of the user's systemd, which
//! desktops start everything in and a runner asks for otherwise (`scope.rs`), or as root. It
//! is the only thing that finds a process that has cleared its environment, lost its parent and outlived the keeper,
//! and the only one that kills faster than a process can fork. All of it is optional: where there is no such group,
//! there is none, and [`ProcessTree`](super::ProcessTree) does without.
//!
//! How the agent gets in: the keeper enters the group, starts the agent, which is thereby born in it, and leaves
//! again. Entering takes some milliseconds, in which the kernel waits for all processors; so it is begun while there is
//! something else to do. Rejected were moving the child after its start (it may have forked by then), starting it through a shell
//! that enters first (what cannot be started is then told by a shell's message instead of an error), and staying in
//! the group (then it could not be killed or counted as a whole).

mod place;
mod scope;

pub use scope::{ScopeOutcome, UserSystemd, enter_scope};

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::bounded_wait::BoundedWait;

/// What the names of our groups begin with.
const PREFIX: &str = "fleet-";

/// How deep groups in the group are looked at; an agent may make some.
const MAX_DEPTH: usize = 8;

/// A process that has ended is in its group for a moment longer than it is in the table.
const EXIT_DELAY: Duration = Duration::from_millis(100);

/// Whether this process is in a group: it can be in one at a time.
static IN_GROUP: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());

/// A control group of a run. It stays until it is removed or the machine restarts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    dir: PathBuf,
}

impl Group {
    /// Makes the group of a run below the group of this process. `None` where that is not possible.
    ///
    /// The run's name must be letters, digits, `-` and `_`.
    pub fn create(run: &str) -> Option<Self> {
        if !is_plain(run) {
            return None;
        }
        let dir = place::own()?.join(format!("{PREFIX}{run}"));
        match fs::create_dir(&dir) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return None,
            _ => {}
        }
        let group = Self { dir };
        if group.pids().is_none() {
            group.remove();
            return None;
        }
        Some(group)
    }

    /// The run in whose group this process is, by the outermost group of ours. A fork stays in its group.
    pub fn run_of_this_process() -> Option<String> {
        run_in(&place::own_path()?)
    }

    /// The same for another process.
    pub fn run_of_process(pid: i32) -> Option<String> {
        run_in(&place::path_of(pid)?)
    }

    /// Whether the group can hold processes and is one of ours: what is read from a file is not taken for granted.
    fn is_ours(&self) -> bool {
        let name = self.dir.file_name().and_then(OsStr::to_str).unwrap_or_default();
        name.starts_with(PREFIX) && self.dir.join("cgroup.procs").exists()
    }

    /// Brings this process into the group: whatever it starts until it leaves is born there. Where the group cannot be
    /// entered, it is not, and everything starts all the same.
    pub fn enter(&self) -> Inside {
        let (turn, free) = &IN_GROUP;
        let turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
        *free.wait_while(turn, |taken| *taken).unwrap_or_else(PoisonError::into_inner) = true;
        Inside { has_entered: enter(&self.dir), group: self.clone() }
    }

    /// The processes in the group and in the groups in it. `None` when it is not there.
    pub(super) fn pids(&self) -> Option<Vec<i32>> {
        if !self.is_ours() {
            return None;
        }
        let mut pids = Vec::new();
        collect(&self.dir, MAX_DEPTH, &mut pids).ok()?;
        Some(pids)
    }

    /// Kills all at once, those that are about to be born too. Does nothing when one of `spared` is in it.
    pub(super) fn kill(&self, spared: &HashSet<i32>) {
        let Some(pids) = self.pids() else { return };
        if pids.is_empty() || pids.iter().any(|pid| spared.contains(pid)) {
            return;
        }
        if fs::write(self.dir.join("cgroup.kill"), "1").is_err() {
            // Before Linux 5.14. Who is frozen can be killed but cannot fork.
            let _ = fs::write(self.dir.join("cgroup.freeze"), "1");
        }
    }

    /// Lets no process in it run, or lets them run again. Where that is not possible, nothing changes.
    pub(super) fn set_frozen(&self, frozen: bool) {
        if self.is_ours() {
            let _ = fs::write(self.dir.join("cgroup.freeze"), if frozen { "1" } else { "0" });
        }
    }

    /// Processor time of all that ever ran in it.
    pub(super) fn cpu(&self) -> Option<Duration> {
        let text = fs::read_to_string(self.dir.join("cpu.stat")).ok()?;
        let micros = text.lines().find_map(|line| line.strip_prefix("usage_usec "))?;
        Some(Duration::from_micros(micros.trim().parse().ok()?))
    }

    /// Removes the group if it is empty. True when it is gone.
    pub fn remove(&self) -> bool {
        let mut patience = BoundedWait::new(EXIT_DELAY, EXIT_DELAY);
        while self.is_ours() {
            remove_below(&self.dir, MAX_DEPTH);
            let is_empty = self.pids().is_some_and(|pids| pids.is_empty());
            if !is_empty || !patience.pause() {
                break;
            }
        }
        !self.dir.exists()
    }
}

/// This process in a group. It leaves when this is dropped.
#[derive(Debug)]
pub struct Inside {
    group: Group,
    has_entered: bool,
}

impl Inside {
    /// Whether the system let this process in. If not, what it starts is not in the group either.
    pub fn has_entered(&self) -> bool {
        self.has_entered
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        if self.has_entered
            && let Some(outside) = self.group.dir.parent()
        {
            // Nothing can be done about a failure; then `kill` spares the whole group.
            enter(outside);
        }
        let (turn, free) = &IN_GROUP;
        *turn.lock().unwrap_or_else(PoisonError::into_inner) = false;
        free.notify_one();
    }
}

fn run_in(path: &str) -> Option<String> {
    // A runner's scope has a name like that, too, which no run can have.
    let mut runs = path.split('/').filter_map(|name| name.strip_prefix(PREFIX));
    runs.find(|name| is_plain(name)).map(ToOwned::to_owned)
}

fn is_plain(run: &str) -> bool {
    !run.is_empty() && run.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

/// Moves this process into a group.
fn enter(dir: &Path) -> bool {
    fs::write(dir.join("cgroup.procs"), "0").is_ok()
}

fn collect(dir: &Path, depth: usize, pids: &mut Vec<i32>) -> io::Result<()> {
    let text = fs::read_to_string(dir.join("cgroup.procs"))?;
    pids.extend(text.lines().filter_map(|line| line.parse::<i32>().ok()));
    for inner in folders(dir).filter(|_| depth > 0) {
        // It may have been removed meanwhile.
        let _ = collect(&inner, depth - 1, pids);
    }
    Ok(())
}

fn remove_below(dir: &Path, depth: usize) {
    for inner in folders(dir).filter(|_| depth > 0) {
        remove_below(&inner, depth - 1);
    }
    let _ = fs::remove_dir(dir);
}

fn folders(dir: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path())
}
