//! The kernel's table of processes.
//!
//! Owns how it is read: from `/proc` on Linux, from `ps` elsewhere. The two answer the same questions with the same
//! types, and no other module asks the system.

#[cfg(target_os = "linux")]
mod open_files;
#[cfg(target_os = "linux")]
mod procfs;
#[cfg(any(not(target_os = "linux"), test))]
#[cfg_attr(target_os = "linux", expect(dead_code, reason = "here only its parsing is tested"))]
mod ps;

use std::time::Duration;

#[cfg(target_os = "linux")]
pub(super) use open_files::used_paths;
#[cfg(target_os = "linux")]
pub(super) use procfs::{age, all, arguments, boot, io, is_doomed, last_pid, line, marked, one, pids};
#[cfg(not(target_os = "linux"))]
pub(super) use ps::{
    age, all, arguments, boot, io, is_doomed, last_pid, line, marked, one, pids, used_paths,
};

/// What a process has read and written so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Io {
    pub bytes: u64,
    /// In how many calls.
    pub calls: u64,
}

/// A process, at the time of the scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProcessEntry {
    pub(super) pid: i32,
    pub(super) parent: i32,
    /// Its process group.
    pub(super) group: i32,
    pub(super) session: i32,
    /// When it was started, in a unit of the system. Together with the number and the boot it is unique.
    pub(super) start: u64,
    pub(super) state: ProcessState,
    /// Processor time of its own and of the children that it has waited for.
    pub(super) cpu: Duration,
    pub(super) rss_bytes: u64,
    pub(super) name: String,
}

/// What a process is doing, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProcessState {
    /// It runs, sleeps or waits.
    Alive,
    /// It was stopped and does nothing until it is continued or killed.
    Stopped,
    /// It has ended and has not been reaped.
    Dead,
}

/// A process, and the line of parents above it.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) own: ProcessEntry,
    /// The nearest first, without the first process of all.
    pub(super) above: Vec<ProcessEntry>,
    /// Whether it reaches up to the first process: one that ended meanwhile cuts it off.
    pub(super) is_complete: bool,
}

fn line_above(pid: i32, find: impl Fn(i32) -> Option<ProcessEntry>) -> Option<Line> {
    let mut line: Vec<ProcessEntry> = Vec::new();
    let own = find(pid)?;
    let mut child = own.clone();
    // A number that was reused while we looked is no parent; and no process is its own ancestor.
    let is_parent = |parent: &ProcessEntry, child: &ProcessEntry, line: &[ProcessEntry]| {
        parent.pid > 1 && parent.start <= child.start && line.iter().all(|known| known.pid != parent.pid)
    };
    while let Some(parent) = find(child.parent).filter(|parent| is_parent(parent, &child, &line)) {
        line.push(parent.clone());
        child = parent;
    }
    Some(Line { own, above: line, is_complete: child.parent <= 1 })
}

impl ProcessState {
    fn from_letter(letter: u8) -> Self {
        match letter {
            b'Z' | b'X' | b'x' => Self::Dead,
            b'T' | b't' => Self::Stopped,
            _ => Self::Alive,
        }
    }
}
