//! Runs of another home that shares the store, as another machine would: its processes cannot be reached from here.

use super::super::support::fleet;
use super::{Yard, signal};
use fleet_testkit::fleet::Fleet;

/// A yard with a short lease, and somebody else who shares its store and its repository, but not its home.
fn two_homes() -> (Yard, Fleet) {
    let mut yard = Yard::new();
    let store = format!("sqlite:{}", yard.sign("shared.db").display());
    yard.fleet = yard.fleet.env("FLEET_STORE", &store).env("FLEET_RUNNER_LEASE_SECONDS", "2");
    let other =
        fleet().cwd(yard.repo.path()).env("FLEET_STORE", &store).env("FLEET_RUNNER_LEASE_SECONDS", "2");
    (yard, other)
}

#[test]
fn a_keeper_elsewhere_hears_of_it_at_its_next_renewal() {
    let (mut yard, other) = two_homes();
    let task = yard.add_staying("far", "write a x");
    yard.start_runner();
    yard.at_work(&["far"]);
    let killed = other.json(&["kill", "far", "--yes"]);
    assert_eq!(killed["killed"][0]["outcome"], "stopped", "{killed}");
    assert_eq!(yard.task(&task)["state"], "cancelled");
    assert_eq!(yard.file("far", "a"), "x");
}

#[test]
fn a_keeper_elsewhere_that_is_gone_is_not_waited_for() {
    let (mut yard, other) = two_homes();
    let task = yard.add_staying("lost", "write a x");
    yard.start_runner();
    yard.at_work(&["lost"]);
    yard.stop_runner();
    signal(yard.keeper(&task), "-KILL");
    let cancelled = other.json(&["task", "cancel", &task]);
    assert_eq!(cancelled["tasks"][0]["state"], "cancelled", "{cancelled}");
    assert_eq!(yard.marks(), 1, "only its own home can tidy up");
    yard.finish_all();
    assert_eq!(yard.marks(), 0);
    yard.fleet.ok(&["undo", &task, "--branch", "saved"]);
    assert_eq!(yard.file("saved", "a"), "x", "and has saved the work");
}
