//! One process and no other.

use std::process::{Child, Command};
use std::time::Duration;

use fleet_host::process::{Identity, Signal};

use crate::BOUND;

/// A process that sleeps, and ends with the test.
struct Sleeper(Child);

impl Sleeper {
    fn start() -> Self {
        Self(Command::new("sleep").arg("300").spawn().unwrap())
    }

    fn identity(&self) -> Identity {
        Identity::of(i32::try_from(self.0.id()).unwrap()).unwrap()
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn alive_dead_and_gone() {
    let mut sleeper = Sleeper::start();
    let identity = sleeper.identity();
    assert!(identity.is_alive());
    assert!(!identity.wait_for_end(Duration::from_millis(1)).unwrap());
    assert!(identity.signal(Signal::KILL).unwrap());
    assert!(identity.wait_for_end(BOUND).unwrap());
    // It is still in the table, because nobody has waited for it.
    assert_eq!(Identity::of(identity.pid).as_ref(), Some(&identity));
    assert!(!identity.is_alive());
    assert!(!identity.signal(Signal::KILL).unwrap());
    sleeper.0.wait().unwrap();
    assert_ne!(Identity::of(identity.pid).as_ref(), Some(&identity));
    assert!(!identity.is_alive());
    assert!(identity.wait_for_end(Duration::ZERO).unwrap());
}

#[test]
fn another_with_the_same_number_is_not_touched() {
    let sleeper = Sleeper::start();
    let identity = sleeper.identity();
    let earlier = Identity { start: identity.start - 1, ..identity.clone() };
    let another_boot = Identity { boot: "another".to_owned(), ..identity.clone() };
    for other in [earlier, another_boot] {
        assert!(!other.is_alive());
        assert!(!other.signal(Signal::KILL).unwrap());
        assert!(other.wait_for_end(Duration::ZERO).unwrap());
    }
    assert!(identity.is_alive());
}

#[test]
fn the_first_process_is_never_signalled() {
    let first = Identity::of(1);
    // Where processes of others are hidden there is nothing to be tried.
    if let Some(first) = first {
        assert!(!first.signal(Signal::CONT).unwrap());
    }
    for pid in [0, -1] {
        assert!(!Identity { pid, ..Identity::current() }.signal(Signal::CONT).unwrap());
    }
}

#[test]
fn this_process() {
    let current = Identity::current();
    assert_eq!(current.pid, i32::try_from(std::process::id()).unwrap());
    assert!(current.is_alive());
    let text = serde_json::to_string(&current).unwrap();
    assert_eq!(serde_json::from_str::<Identity>(&text).unwrap(), current);
}

#[cfg(target_os = "linux")]
#[test]
fn age() {
    let identity = Sleeper::start().identity();
    assert_eq!(identity.age(), None, "it has ended");
    let sleeper = Sleeper::start();
    fleet_testkit::wait_until(BOUND, "it gets older", || {
        let age = sleeper.identity().age().unwrap();
        assert!(age < BOUND);
        age > Duration::from_millis(20)
    });
}
