//! One look at all processes.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, OnceLock, PoisonError};

use rustix::process::getpid;

use super::Identity;
use super::table::{self, ProcessEntry};

/// The processes that carry a variable, by its value.
type PidsByValue = HashMap<Vec<u8>, Vec<i32>>;

/// Parents and children, by process id.
#[derive(Debug, Default)]
struct Relations {
    children: HashMap<i32, Vec<i32>>,
    /// Who is in the session or in the process group of this number.
    led: HashMap<i32, Vec<i32>>,
}

/// All processes as they were at one time, for questions about many trees. Environments are read when a tree first
/// asks for them, once for all trees.
#[derive(Debug)]
pub struct Processes {
    entries: HashMap<i32, ProcessEntry>,
    marks: Mutex<HashMap<String, PidsByValue>>,
    relations: OnceLock<Relations>,
    /// Processes that were started before this are known to carry no mark.
    since: u64,
}

impl Processes {
    pub fn scan() -> Self {
        Self::from_entries(table::all())
    }

    /// Looks once, for a tree all of which was started at `since` or later. Most processes of a machine are older, and
    /// their environments need not be read.
    pub(super) fn scan_since(since: u64) -> Self {
        Self { since, ..Self::scan() }
    }

    pub(super) fn from_entries(entries: Vec<ProcessEntry>) -> Self {
        let entries = entries.into_iter().map(|entry| (entry.pid, entry)).collect();
        Self { entries, marks: Mutex::default(), relations: OnceLock::new(), since: 0 }
    }

    pub fn count(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn get(&self, pid: i32) -> Option<&ProcessEntry> {
        self.entries.get(&pid)
    }

    pub(super) fn children(&self, pid: i32) -> &[i32] {
        self.relations().children.get(&pid).map_or(&[], Vec::as_slice)
    }

    /// Who is in the session or in the process group that this process leads. While a leader is in the table, even dead,
    /// its number is not given to another session or group.
    pub(super) fn led_by(&self, pid: i32) -> &[i32] {
        self.relations().led.get(&pid).map_or(&[], Vec::as_slice)
    }

    fn relations(&self) -> &Relations {
        self.relations.get_or_init(|| {
            let mut relations = Relations::default();
            for entry in self.entries.values() {
                // The number of a parent that has ended while the table was read may have been given to a younger
                // process.
                if self.get(entry.parent).is_some_and(|parent| parent.start <= entry.start) {
                    relations.children.entry(entry.parent).or_default().push(entry.pid);
                }
                for leader in [entry.session, entry.group] {
                    relations.led.entry(leader).or_default().push(entry.pid);
                }
            }
            relations
        })
    }

    /// The process of this identity, alive or dead, unless its number belongs to another by now.
    pub(super) fn find(&self, identity: &Identity) -> Option<&ProcessEntry> {
        self.get(identity.pid).filter(|entry| identity.is(entry))
    }

    /// The processes that carry this variable with this value.
    pub(super) fn marked(&self, (name, value): (&str, &str)) -> Vec<i32> {
        let mut known = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        let marks = known.entry(name.to_owned()).or_insert_with(|| self.read_marks(name));
        marks.get(value.as_bytes()).cloned().unwrap_or_default()
    }

    pub fn with_variable(&self, name: &str) -> Vec<(String, Vec<i32>)> {
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        self.read_marks(name).into_iter().map(|(value, pids)| (text(&value), pids)).collect()
    }

    fn read_marks(&self, name: &str) -> PidsByValue {
        let mut marks = PidsByValue::new();
        let young = self.entries.values().filter(|entry| entry.start >= self.since);
        for (pid, value) in table::marked(name, &mut young.map(|entry| entry.pid)) {
            marks.entry(value).or_default().push(pid);
        }
        marks
    }

    /// Processes that no tree may touch: this process, those above it, and the first of all.
    pub(super) fn protected(&self) -> HashSet<i32> {
        let mut pids = HashSet::from([0, 1]);
        let mut next = getpid().as_raw_pid();
        // A second visit would be a cycle, which a table that changes while it is read may seem to have.
        while pids.insert(next) {
            next = self.get(next).map_or(0, |entry| entry.parent);
        }
        pids
    }
}
