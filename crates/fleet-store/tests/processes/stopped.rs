//! A process that is stopped in the middle of a write, with the lock that all writers need.

use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use fleet_core::id::IdMaker;
use fleet_core::project::RepositoryFacts;
use fleet_store::ops::{EnsureProject, ProjectCheckout};
use fleet_testkit::wait_until;
use rustix::fs::FlockOperation;
use rustix::process::{Signal, getpid, kill_process};

use crate::block_on;
use crate::place::Place;
use crate::worker::now;

const BOUND: Duration = Duration::from_mins(1);
/// Names the lock to [`shim`].
const LOCK: &str = "FLEET_TEST_LOCK";

/// Not a test: takes a lock and stops itself. Does nothing where no lock is named. Called as keepers are.
#[test]
fn shim() {
    let Some(path) = std::env::var_os(LOCK) else { return };
    let file = std::fs::File::create(path).unwrap();
    rustix::fs::flock(&file, FlockOperation::LockExclusive).unwrap();
    kill_process(getpid(), Signal::STOP).unwrap();
    // Another thread may take the signal: this one must not free the lock before it is stopped as well.
    std::thread::sleep(Duration::from_secs(1));
}

/// The lock of a store, held by a process that is stopped and looks as if it was called like this.
struct Stopped(Child);

impl Stopped {
    fn holding(lock: &Path, program: &str, argument: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg0(program).arg(argument).env(LOCK, lock);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let stat = PathBuf::from(format!("/proc/{}/stat", child.id()));
        wait_until(BOUND, "it is stopped", || std::fs::read_to_string(&stat).unwrap().contains(") T "));
        Self(child)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The lock of the store of a place; nothing, and a word about it, where nobody can tell who holds a lock.
fn lock_of(place: &Place) -> Option<PathBuf> {
    if !Path::new("/proc/locks").exists() {
        println!("skipped: there is no /proc/locks");
        return None;
    }
    let file = place.url.strip_prefix("sqlite:").unwrap();
    Some(PathBuf::from(format!("{file}.lock")))
}

fn write() -> EnsureProject {
    EnsureProject {
        id: IdMaker::default().next(now(), 1),
        checkout: ProjectCheckout {
            place: "here".to_owned(),
            common_dir: "/the/repository".to_owned(),
            name: "the repository".to_owned(),
        },
        seen: RepositoryFacts::default(),
        now: now(),
    }
}

#[test]
fn a_keeper_that_stays_stopped_keeps_nobody_from_writing() {
    let place = Place::sqlite();
    let Some(lock) = lock_of(&place) else { return };
    block_on(async {
        let store = place.open().await;
        store.set_lease(Duration::from_secs(1));
        let mut keeper = Stopped::holding(&lock, "/usr/bin/fleet", "shim");
        let said = store.stopped_holder().unwrap();
        assert!(said.contains(&format!("process {} (a fleet keeper)", keeper.0.id())), "{said}");
        store.call(write()).await.unwrap();
        assert_eq!(keeper.0.wait().unwrap().signal(), Some(Signal::KILL.as_raw()));
        assert_eq!(store.stopped_holder(), None);
    });
}

#[test]
fn a_command_that_a_person_stopped_is_named_and_left_alone() {
    let place = Place::sqlite();
    let Some(lock) = lock_of(&place) else { return };
    block_on(async {
        let store = place.open().await;
        store.set_lease(Duration::ZERO);
        let mut command = Stopped::holding(&lock, "fleet", "stopped::shim");
        let said = store.stopped_holder().unwrap();
        let pid = command.0.id();
        assert!(
            said.contains("(a fleet command)") && said.contains(&format!("`kill -CONT {pid}`")),
            "{said}"
        );
        let (write, thaw) = (store.call(write()), async {
            // Long enough for those who wait to look at it more than once.
            tokio::time::sleep(Duration::from_millis(2_500)).await;
            assert!(command.0.try_wait().unwrap().is_none(), "somebody ended it");
            kill_process(rustix::process::Pid::from_child(&command.0), Signal::CONT).unwrap();
        });
        let (written, ()) = tokio::join!(write, thaw);
        written.unwrap();
        assert!(command.0.wait().unwrap().success());
    });
}
