//! The running runners of this home.
//!
//! Each holds a lock on its own file, which identifies it. The kernel frees the lock when the process ends, however it
//! ends, so a file that is not locked is a runner that is gone.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use fleet_core::problem::Outcome;
use fleet_core::time::Millis;
use fleet_host::lock::Exclusive;
use fleet_host::machine;
use fleet_host::plain;
use fleet_host::process::Identity;
use serde::{Deserialize, Serialize};

use crate::home::{Home, create_private, make_private};
use crate::problems;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runner {
    /// Its name, in the runs that it claims.
    pub name: String,
    pub process: Identity,
    pub slots: u32,
    /// How many interactive runs it starts; a runner of an earlier version starts none.
    #[serde(default)]
    pub terminals: u32,
    pub background: bool,
    pub started_at: Millis,
    pub version: String,
    /// Whether it is too old for the store: then it takes no more tasks, and ends when its agents have.
    #[serde(default)]
    pub outdated: bool,
    /// What the machine has too little of for another agent, since when; it waits for that.
    #[serde(default)]
    pub shortage: Option<(Millis, String)>,
}

#[derive(Debug)]
pub struct Registered {
    pub runner: Runner,
    path: PathBuf,
    lock: Exclusive,
}

impl Registered {
    /// Marks it as taking no more tasks.
    pub(super) fn retire(&mut self) {
        self.update(|runner| runner.outdated = true);
    }

    /// Changes what others see of it. The log says so, too, so a file that cannot be written is no reason to stop.
    pub(super) fn update(&mut self, change: impl FnOnce(&mut Runner)) {
        let before = self.runner.clone();
        change(&mut self.runner);
        if self.runner != before
            && let Ok(text) = serde_json::to_vec(&self.runner)
        {
            let _ = self.lock.write(&text);
        }
    }

    /// Whether the others still see it. The file may have been removed.
    pub fn is_seen(&self) -> bool {
        self.lock.is_at(&self.path)
    }
}

/// The file of the runner in the background. The others are for its successors, while runners that are too old wait for
/// their agents to end.
const BACKGROUND: [&str; 3] = ["background", "background.2", "background.3"];

/// Registers a runner. There is only one in the background: returns nothing if there is one already.
pub fn register(home: &Home, runner: Runner) -> Outcome<Option<Registered>> {
    try_register(home, runner).map_err(problems::at(&home.runners()))
}

fn try_register(home: &Home, runner: Runner) -> io::Result<Option<Registered>> {
    make_private(&home.runners())?;
    let names = if runner.background { &BACKGROUND[..] } else { &[runner.name.as_str()] };
    let Some((path, lock)) = free_place(home, names)? else { return Ok(None) };
    lock.write(&serde_json::to_vec(&runner)?)?;
    forget_the_dead(home);
    if runner.background {
        create_private(&home.runner_wanted())?;
    }
    Ok(Some(Registered { runner, path, lock }))
}

/// The first free one of these places; nothing if a runner that is not too old has one of them.
fn free_place(home: &Home, names: &[&str]) -> io::Result<Option<(PathBuf, Exclusive)>> {
    let mut free = None;
    for name in names {
        let path = home.runners().join(name);
        if free.is_some() {
            if Exclusive::is_held(&path)? && !is_outdated(&path) {
                return Ok(None);
            }
        } else if let Some(lock) = lock(&path)? {
            free = Some((path, lock));
        } else if !is_outdated(&path) {
            return Ok(None);
        }
    }
    Ok(free)
}

fn is_outdated(path: &Path) -> bool {
    read(path).is_some_and(|runner| runner.outdated)
}

/// The lock decides which runner has the place. That of a killed runner is free in a moment.
fn lock(path: &Path) -> io::Result<Option<Exclusive>> {
    let mut left = DEATH_TIMEOUT;
    loop {
        let lock = Exclusive::acquire(path, POLL_INTERVAL)?;
        if lock.is_some() || read(path).is_some_and(|runner| !runner.process.is_doomed()) || left.is_zero() {
            return Ok(lock);
        }
        left = left.saturating_sub(POLL_INTERVAL);
    }
}

/// A killed process may take this long to end on a busy machine.
const DEATH_TIMEOUT: Duration = Duration::from_secs(5);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Removes the files of runners that were killed, or they would pile up. Under their locks: a name is never used twice,
/// except that of the runner in the background, which takes its own file over.
fn forget_the_dead(home: &Home) {
    for entry in fs::read_dir(home.runners()).into_iter().flatten().flatten() {
        if entry.file_name() != BACKGROUND[0]
            && matches!(Exclusive::is_held(&entry.path()), Ok(false))
            && let Ok(Some(_lock)) = Exclusive::try_acquire(&entry.path())
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        // A file that stays is not locked, and only the lock counts. One of the same name may be another's.
        if self.is_seen() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

pub fn up(home: &Home) -> Outcome<Vec<Runner>> {
    locked(home).map_err(problems::at(&home.runners()))
}

fn locked(home: &Home) -> io::Result<Vec<Runner>> {
    let entries = match fs::read_dir(home.runners()) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut runners = Vec::new();
    for entry in entries {
        let path = entry?.path();
        // A killed runner holds its lock for another moment, but does nothing.
        if Exclusive::is_held(&path)? {
            runners.extend(read(&path).filter(|runner| !runner.process.is_doomed()));
        }
    }
    runners.sort_by_key(|runner| runner.started_at);
    Ok(runners)
}

/// Those of them that start agents.
pub fn taking_tasks(home: &Home) -> Outcome<Vec<Runner>> {
    Ok(up(home)?.into_iter().filter(|runner| !runner.outdated).collect())
}

/// The runner that holds the lock of the one in the background, even if its process is invisible from here, in another
/// container for example.
pub fn in_background(home: &Home) -> Outcome<Option<Runner>> {
    for name in BACKGROUND {
        let path = home.runners().join(name);
        if Exclusive::is_held(&path).map_err(problems::at(&path))? && !is_outdated(&path) {
            return Ok(read(&path));
        }
    }
    Ok(None)
}

/// The runner of this file. It is written just after the lock was taken: a runner that is starting appears a moment
/// later.
fn read(path: &Path) -> Option<Runner> {
    serde_json::from_slice(&plain::read(path).ok()?).ok()
}

/// A name that no other runner has.
pub fn new_name(entropy: u64) -> String {
    format!("{}-{:06x}", machine::name(), entropy & 0xff_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runner(name: &str, process: Identity) -> Runner {
        let (name, version) = (name.to_owned(), "1".to_owned());
        let (slots, terminals, started_at) = (1, 1, Millis(1));
        Runner {
            name,
            process,
            slots,
            terminals,
            background: true,
            started_at,
            version,
            outdated: false,
            shortage: None,
        }
    }

    /// Its agents may work for hours, and meanwhile nobody else would start any.
    #[test]
    fn one_that_is_too_old_does_not_keep_the_next_from_coming_up() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path());
        let me = Identity::current;
        let mut old = register(&home, runner("old", me())).unwrap().unwrap();
        assert!(register(&home, runner("second", me())).unwrap().is_none());
        old.retire();
        assert_eq!(
            (up(&home).unwrap().len(), taking_tasks(&home).unwrap(), in_background(&home).unwrap()),
            (1, vec![], None)
        );
        let next = register(&home, runner("next", me())).unwrap().unwrap();
        assert_eq!(taking_tasks(&home).unwrap(), std::slice::from_ref(&next.runner));
        assert_eq!(in_background(&home).unwrap().as_ref(), Some(&next.runner));
        assert!(register(&home, runner("third", me())).unwrap().is_none(), "one of a kind");
        drop(old);
        assert!(register(&home, runner("fourth", me())).unwrap().is_none(), "also when the old one is gone");
        assert_eq!(in_background(&home).unwrap().as_ref(), Some(&next.runner));
        assert!(next.is_seen() && up(&home).unwrap() == std::slice::from_ref(&next.runner));
    }

    /// One that the kernel has not done with yet: its lock is held, and it does nothing any more.
    #[test]
    fn a_runner_that_was_killed_is_not_up_and_its_successor_waits_for_the_lock() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path());
        let me = Identity::current();
        // The number of no process.
        let dead = Identity { pid: i32::MAX, ..me.clone() };
        let old = register(&home, runner("old", dead)).unwrap().unwrap();
        assert_eq!(up(&home).unwrap(), [], "the lock alone does not make it one that works");
        let registered = std::thread::scope(|scope| {
            let next = scope.spawn(|| register(&home, runner("new", me.clone())).unwrap());
            std::thread::sleep(POLL_INTERVAL * 3);
            assert!(!next.is_finished(), "there is one of a kind");
            drop(old);
            next.join().unwrap().expect("it has the lock now")
        });
        assert_eq!(up(&home).unwrap(), std::slice::from_ref(&registered.runner));
        assert!(
            register(&home, runner("third", me)).unwrap().is_none(),
            "it does not wait for one that works"
        );
        assert!(home.runner_wanted().exists());
    }
}
