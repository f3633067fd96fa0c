//! Who started a process.

use std::fs;

use rustix::process::getpid;

use super::Identity;
use super::table::{self, Line};

/// The processes above one, as they were at one time.
///
/// A process can forget its environment and leave its session, but not its parents: what loses its parent becomes a child
/// of the keeper where there are subreapers (Linux), and of the first process elsewhere.
#[derive(Debug, Clone)]
pub struct Ancestors {
    /// Nearest first.
    line: Vec<Identity>,
    /// Whether the table has the process itself.
    is_seen: bool,
    /// Whether all of them were found.
    is_complete: bool,
}

impl Ancestors {
    /// Those above this process.
    pub fn look() -> Self {
        Self::of(own_number())
    }

    /// Those above a process. The leader of its session counts as the farthest: where there are no subreapers, only the
    /// session tells where a process comes from that has lost its parent.
    pub fn of(pid: i32) -> Self {
        let Some(Line { own, above, is_complete }) = table::line(pid) else {
            return Self { line: Vec::new(), is_seen: false, is_complete: false };
        };
        // Not by getsid: in a PID namespace whose session began outside, the leader has the number 0 there. Every
        // process descends from the first.
        let is_above = |leader: i32| above.iter().any(|entry| entry.pid == leader);
        let leader = Some(own.session).filter(|leader| *leader > 1 && *leader != pid && !is_above(*leader));
        let line = above.iter().map(Identity::from_entry).chain(leader.and_then(Identity::of)).collect();
        Self { line, is_seen: true, is_complete }
    }

    /// The same, with the process itself as the nearest.
    pub fn of_and_itself(pid: i32) -> Self {
        let Self { line, is_seen, is_complete } = Self::of(pid);
        Self { line: Identity::of(pid).into_iter().chain(line).collect(), is_seen, is_complete }
    }

    /// Whether it is known where the process comes from: it lives, and nobody above it ended while we looked.
    pub const fn is_complete(&self) -> bool {
        self.is_seen && self.is_complete
    }

    /// Whether the table shows all processes of this machine, as far as that can be told at once.
    pub fn sees_all(&self) -> bool {
        self.is_seen && table::one(1).is_none_or(|first| first.start < BOOT_MARGIN)
    }

    /// How near a process is, if it is among them: 0 is the parent.
    pub fn distance(&self, process: &Identity) -> Option<usize> {
        self.line.iter().position(|above| above == process)
    }

    /// Whether one of them was started with such an argument; yes, where that cannot be known cheaply.
    pub fn may_have_argument(&self, is_it: impl Fn(&str) -> bool) -> bool {
        let has_it = |above: &Identity| {
            table::arguments(above.pid).is_none_or(|arguments| arguments.iter().any(|one| is_it(one)))
        };
        self.line.iter().any(has_it)
    }

    /// What the farthest process that carries this variable has in it: a nearer one may be forged.
    pub fn variable(&self, name: &str) -> Option<String> {
        let found = table::marked(name, &mut self.line.iter().map(|above| above.pid));
        let value = |above: &Identity| found.iter().find(|(pid, _)| *pid == above.pid);
        self.line.iter().rev().find_map(value).map(|(_, value)| String::from_utf8_lossy(value).into_owned())
    }
}

/// The number of this process in the table that can be read here: in a PID namespace of its own whose `/proc` is that of
/// another one, a process has one number by itself and another one there.
fn own_number() -> i32 {
    let there = fs::read_link("/proc/self").ok();
    let there = there.and_then(|link| link.to_str()?.parse().ok());
    there.unwrap_or_else(|| getpid().as_raw_pid())
}

/// A first process that began so soon after the boot is the system's own; in the unit of the table.
const BOOT_MARGIN: u64 = 6_000;

/// Whether those above this process may be out of sight, and this one among them: there is no table of processes, or the
/// first process in it is younger than one that is known to live, so that this is a namespace which was made later.
pub fn may_be_below_unseen(living: &Identity) -> bool {
    // One of another boot lives on another machine, which has the same folder.
    if living.boot != table::boot() {
        return false;
    }
    if table::one(own_number()).is_none() {
        return true;
    }
    // Where that one cannot be seen, as some systems have it for ordinary users, nothing can be told from it.
    table::one(1).is_some_and(|first| first.start > living.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_is_nearest_and_nobody_is_above_himself() {
        let above = Ancestors::look();
        let me = Identity::current();
        assert_eq!(above.distance(&me), None);
        if let Some(parent) = above.line.first() {
            assert_eq!(above.distance(parent), Some(0));
            let another = Identity { start: parent.start + 1, ..parent.clone() };
            assert_eq!(above.distance(&another), None, "a number alone is nobody");
        }
        assert_eq!(above.variable("NOBODY_CARRIES_THIS"), None);
        assert!(above.line.is_empty() || above.may_have_argument(|_| true));
        assert!(!cfg!(target_os = "linux") || !above.may_have_argument(|_| false));
    }

    #[test]
    fn what_is_older_than_the_first_process_is_outside_of_this_namespace() {
        let first = Identity::of(1).unwrap();
        assert!(!may_be_below_unseen(&Identity::current()), "one sees oneself");
        assert!(!may_be_below_unseen(&first));
        if first.start > 0 {
            assert!(may_be_below_unseen(&Identity { pid: 5, start: first.start - 1, ..first.clone() }));
        }
        let elsewhere = Identity { boot: "another".to_owned(), start: 0, ..first };
        assert!(!may_be_below_unseen(&elsewhere), "on another machine");
    }
}
