//! What the workers noted, put together.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use fleet_core::id::TaskId;

use crate::worker::notes;

/// The number of the last event that a follower noted.
pub(crate) fn last_seen(folder: &Path, name: &str) -> Option<i64> {
    let text = fs::read_to_string(notes::path(folder, name)).ok()?;
    let whole = &text[..=text.rfind('\n')?];
    whole.lines().rev().find_map(|line| line.strip_prefix("saw ")?.split(' ').next()?.parse().ok())
}

/// How many lines a worker has noted.
pub(crate) fn count(folder: &Path, name: &str) -> usize {
    fs::read_to_string(notes::path(folder, name)).unwrap_or_default().lines().count()
}

/// What one follower of events saw.
#[derive(Debug, Default)]
pub(crate) struct Followed {
    /// It began after this number.
    pub(crate) since: i64,
    /// Number and kind, in the order in which they were seen.
    pub(crate) saw: Vec<(i64, String)>,
}

#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// Tasks of which an adder was told that they are there, by adder.
    pub(crate) added: BTreeMap<String, BTreeSet<TaskId>>,
    /// Every claim that somebody was told of.
    pub(crate) claimed: Vec<(TaskId, i64)>,
    /// Every end that somebody was told of, with a word for it.
    pub(crate) ended: Vec<(TaskId, i64, String)>,
    /// By follower.
    pub(crate) followed: BTreeMap<String, Followed>,
    /// Workers that had opened the store.
    pub(crate) opened: usize,
    /// Leases that ended for want of renewal.
    pub(crate) expired: usize,
    /// Attempts that were told that they had lost their lease.
    pub(crate) lost: usize,
    /// Calls that were told that the store does not answer.
    pub(crate) unreachable: usize,
    /// The longest that a worker waited, in milliseconds, and for what.
    pub(crate) slowest: (u64, String),
}

impl Evidence {
    pub(crate) fn gather(folder: &Path) -> Self {
        let mut evidence = Self::default();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "notes") {
                let name = path.file_stem().unwrap().to_str().unwrap();
                evidence.read(name, &fs::read_to_string(&path).unwrap());
            }
        }
        evidence
    }

    fn read(&mut self, name: &str, text: &str) {
        for line in text.split_inclusive('\n') {
            // Whoever was killed while writing left half a line.
            if let Some(line) = line.strip_suffix('\n') {
                self.line(name, line);
            }
        }
    }

    fn line(&mut self, name: &str, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        let task = || words[1].parse::<TaskId>().unwrap();
        let number = |at: usize| words[at].parse::<i64>().unwrap();
        match words[0] {
            "added" => drop(self.added.entry(name.to_owned()).or_default().insert(task())),
            "claimed" => self.claimed.push((task(), number(2))),
            "ended" => self.ended.push((task(), number(2), words[3].to_owned())),
            "since" => self.followed.entry(name.to_owned()).or_default().since = number(1),
            "saw" => {
                self.followed.entry(name.to_owned()).or_default().saw.push((number(1), words[2].to_owned()));
            }
            "opened" => self.opened += 1,
            "expired" => self.expired += 1,
            "lost" => self.lost += 1,
            "unreachable" => self.unreachable += 1,
            "slowest" => {
                let slowest = (words[1].parse().unwrap(), words[2].to_owned());
                self.slowest = slowest.max(std::mem::take(&mut self.slowest));
            }
            _ => {}
        }
    }

    pub(crate) fn tasks(&self) -> BTreeSet<TaskId> {
        self.added.values().flatten().copied().collect()
    }
}
