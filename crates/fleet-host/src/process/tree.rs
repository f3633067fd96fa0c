//! All that a run has started.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::membership;
use super::table::{self, Io, ProcessEntry, ProcessState};
use super::{Group, Identity, Processes};

/// The processes of a run, wherever they went.
///
/// Agents start shells in sessions of their own, which start servers that lose their parents on purpose. A process
/// belongs to the run when it is in the run's group, or carries the run's mark in its environment, or descends from
/// the root or the keeper, or is in a session or process group that one of those leads. What clears its environment,
/// loses its parent and moves to its own session is found as a child of the keeper while that lives, and in the
/// group afterwards; where there is no group it is not found after the keeper's death.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessTree {
    pub root: Identity,
    /// The variable and the value that all of the run's processes inherit.
    pub marker: (String, String),
    /// The process that started the root, with its own session, all of whose descendants belong to the run. It is
    /// not a member itself. It need not be alive.
    pub keeper: Option<Identity>,
    pub group: Option<Group>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    pub identity: Identity,
    pub parent: i32,
    /// What the system calls it, in at most 15 bytes on Linux.
    pub name: String,
    /// Whether a signal has stopped it, so that it does nothing.
    pub stopped: bool,
    /// Processor time of its own and of the children that it has waited for.
    pub cpu: Duration,
    /// Shared memory included.
    pub rss_bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessUsage {
    pub processes: usize,
    /// Processor time since the beginning. Without a group it can shrink, when a process ends whose parent did not
    /// wait for it: subtract with care.
    pub cpu: Duration,
    /// Shared memory counts once for each process.
    pub rss_bytes: u64,
    /// How long ago the root was started, if it is still there and the system tells.
    pub age: Option<Duration>,
}

impl Member {
    fn from_entry(entry: &ProcessEntry) -> Self {
        Self {
            identity: Identity::from_entry(entry),
            parent: entry.parent,
            name: entry.name.clone(),
            stopped: entry.state == ProcessState::Stopped,
            cpu: entry.cpu,
            rss_bytes: entry.rss_bytes,
        }
    }
}

impl ProcessTree {
    /// The processes that are alive now, the youngest first.
    pub fn members(&self) -> Vec<Member> {
        self.members_in(&self.look())
    }

    /// Searches for this tree alone. No process in it is older than the one that started it, which is one of two.
    pub(super) fn look(&self) -> Processes {
        let known = [Some(&self.root), self.keeper.as_ref()];
        let since = known.into_iter().flatten().map(|identity| identity.start).min();
        let is_this_boot = known.into_iter().flatten().all(|identity| identity.boot == table::boot());
        Processes::scan_since(since.filter(|_| is_this_boot).unwrap_or(0))
    }

    /// Whether the machine was restarted since: no process survives that.
    pub fn is_of_earlier_boot(&self) -> bool {
        self.root.boot != table::boot()
    }

    /// The same, from a scan that serves many trees.
    pub fn members_in(&self, processes: &Processes) -> Vec<Member> {
        membership::members(self, processes).into_iter().map(Member::from_entry).collect()
    }

    /// What they have read and written so far, of those that are still there. Nothing where the system does not tell.
    pub fn io_in(&self, processes: &Processes) -> Io {
        let all = membership::members(self, processes).into_iter().map(|entry| table::io(entry.pid));
        all.fold(Io::default(), |sum, io| Io {
            bytes: sum.bytes.saturating_add(io.bytes),
            calls: sum.calls.saturating_add(io.calls),
        })
    }

    pub fn usage(&self) -> ProcessUsage {
        self.usage_in(&self.look())
    }

    /// The same, from a scan that serves many trees.
    pub fn usage_in(&self, processes: &Processes) -> ProcessUsage {
        let members = membership::members(self, processes);
        let seen = members.iter().map(|entry| entry.cpu).sum();
        ProcessUsage {
            processes: members.len(),
            cpu: self.group.as_ref().and_then(Group::cpu).unwrap_or(seen),
            rss_bytes: members.iter().map(|entry| entry.rss_bytes).sum(),
            age: processes.find(&self.root).and_then(|root| table::age(root.start)),
        }
    }
}
