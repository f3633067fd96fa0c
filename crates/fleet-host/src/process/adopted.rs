//! The children of others, which become those of a subreaper when their parents end.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{WaitId, WaitIdOptions, WaitIdStatus, getpid, set_child_subreaper, waitid};

use super::Identity;
use super::reap::{Exit, Waited, wait_for};
use super::table::{self, ProcessState};

/// How long a dead child that was not launched here is left for another thread to wait for.
///
/// A thread that runs `git` waits for it by its number and must find it. The kernel does not distinguish adopted
/// children from those that were started here; but those are waited for at once, and an adopted one may stay dead for a
/// while.
const REAP_DELAY: Duration = Duration::from_secs(5);

/// How often the dead are looked for, which takes a walk through the table of processes.
const INTERVAL: Duration = Duration::from_secs(1);

static IS_SUBREAPER: AtomicBool = AtomicBool::new(false);

static WATCH: Mutex<Option<DeadChildren>> = Mutex::new(None);

/// The dead children that were seen, and when first.
#[derive(Default)]
struct DeadChildren {
    last_look: Option<Instant>,
    dead: HashMap<Identity, Instant>,
}

pub(super) fn become_subreaper() -> bool {
    let is_one = set_child_subreaper(Some(getpid())).is_ok();
    IS_SUBREAPER.store(is_one, Ordering::Relaxed);
    is_one
}

#[expect(clippy::disallowed_methods, reason = "deadlines belong to those who wait")]
pub(super) fn reap() -> Vec<(i32, Exit)> {
    let adopts = IS_SUBREAPER.load(Ordering::Relaxed) || getpid().is_init();
    if !adopts || !is_any_child_dead() {
        return Vec::new();
    }
    let mut watch = WATCH.lock().unwrap_or_else(PoisonError::into_inner);
    watch.get_or_insert_default().look(Instant::now())
}

impl DeadChildren {
    fn look(&mut self, now: Instant) -> Vec<(i32, Exit)> {
        if self.last_look.is_some_and(|last| now.duration_since(last) < INTERVAL) {
            return Vec::new();
        }
        self.last_look = Some(now);
        let dead = dead_children();
        self.dead.retain(|child, _| dead.contains(child));
        let mut ended = Vec::new();
        for child in dead {
            let pid = child.pid;
            let since = *self.dead.entry(child).or_insert(now);
            if now.duration_since(since) < REAP_DELAY {
                continue;
            }
            if let Waited::Ended(exit) = wait_for(pid) {
                ended.push((pid, exit));
            }
        }
        ended
    }
}

/// Whether no process descends from this one: a process that lost its parent would be its child.
pub(super) fn is_childless() -> bool {
    IS_SUBREAPER.load(Ordering::Relaxed) && matches!(dead_child(), Err(Errno::CHILD))
}

/// A cheap question that spares most calls a walk through the table of processes.
fn is_any_child_dead() -> bool {
    matches!(dead_child(), Ok(Some(_)))
}

/// A child that has ended, which is left to its waiter; an error if there are no children at all.
fn dead_child() -> rustix::io::Result<Option<WaitIdStatus>> {
    waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT)
}

fn dead_children() -> HashSet<Identity> {
    let own = getpid().as_raw_pid();
    let children = table::all().into_iter().filter(|entry| entry.parent == own);
    children
        .filter(|entry| entry.state == ProcessState::Dead)
        .map(|entry| Identity::from_entry(&entry))
        .collect()
}
