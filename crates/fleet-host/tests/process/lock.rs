//! Locks between threads and between processes.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::thread;
use std::time::Duration;

use fleet_host::lock::Exclusive;
use fleet_testkit::wait_until;

use crate::BOUND;
use crate::actor::{Actor, Part, announce, sit_still};

pub(crate) fn play(path: &Path, ready: &Path) {
    let lock = Exclusive::try_acquire(path).unwrap();
    assert!(lock.is_some());
    announce(ready, "");
    sit_still();
}

#[test]
fn one_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.lock");
    assert!(!Exclusive::is_held(&path).unwrap());
    assert!(!path.exists(), "asking makes no file");

    let held = Exclusive::try_acquire(&path).unwrap().unwrap();
    assert!(Exclusive::is_held(&path).unwrap());
    assert!(Exclusive::try_acquire(&path).unwrap().is_none());
    assert!(Exclusive::acquire(&path, Duration::from_millis(20)).unwrap().is_none());
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);

    drop(held);
    assert!(!Exclusive::is_held(&path).unwrap());
    assert!(Exclusive::try_acquire(&path).unwrap().is_some());
    assert!(path.exists(), "the file is kept");
}

#[test]
fn waiting_for_its_turn() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.lock");
    let held = Exclusive::try_acquire(&path).unwrap().unwrap();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| Exclusive::acquire(&path, BOUND).unwrap().is_some());
        drop(held);
        assert!(waiting.join().unwrap());
    });
}

#[test]
fn many_threads_take_turns() {
    let folder = tempfile::tempdir().unwrap();
    let (path, counter) = (folder.path().join("a.lock"), folder.path().join("count"));
    fs::write(&counter, "0").unwrap();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let _lock = Exclusive::acquire(&path, BOUND).unwrap().unwrap();
                let count: u32 = fs::read_to_string(&counter).unwrap().parse().unwrap();
                fs::write(&counter, (count + 1).to_string()).unwrap();
            });
        }
    });
    assert_eq!(fs::read_to_string(&counter).unwrap(), "8");
}

#[test]
fn asking_disturbs_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.lock");
    drop(Exclusive::try_acquire(&path).unwrap());
    thread::scope(|scope| {
        let asking = scope.spawn(|| {
            for _ in 0..2000 {
                Exclusive::is_held(&path).unwrap();
            }
        });
        while !asking.is_finished() {
            assert!(Exclusive::acquire(&path, BOUND).unwrap().is_some());
        }
    });
}

#[test]
fn the_file_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.lock");
    let old = Exclusive::try_acquire(&path).unwrap().unwrap();
    fs::remove_file(&path).unwrap();
    assert!(!Exclusive::is_held(&path).unwrap(), "nobody holds what is not there");
    let new = Exclusive::try_acquire(&path).unwrap().unwrap();
    drop(old);
    assert!(Exclusive::is_held(&path).unwrap());
    assert!(Exclusive::try_acquire(&path).unwrap().is_none());
    drop(new);
    assert!(Exclusive::try_acquire(&path).unwrap().is_some());
}

#[test]
fn whoever_is_killed_holds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (path, ready) = (folder.path().join("a.lock"), folder.path().join("ready"));
    let mut holder = Actor::start(&Part::Lock { path: path.clone(), ready: ready.clone() });
    wait_until(BOUND, "the lock is taken", || ready.exists());
    assert!(Exclusive::is_held(&path).unwrap());
    assert!(Exclusive::try_acquire(&path).unwrap().is_none());
    holder.kill();
    assert!(!Exclusive::is_held(&path).unwrap());
    assert!(Exclusive::try_acquire(&path).unwrap().is_some());
}

#[test]
fn no_folder_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    assert!(Exclusive::try_acquire(&folder.path().join("none/a.lock")).is_err());
}
