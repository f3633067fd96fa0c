//! Everything at once, for long: agents that commit, stash and leave files, a user who prunes the repository, runners,
//! keepers and agents that are killed or frozen at random moments. In the end every task ended once, and everything that
//! an agent ever wrote is on a branch, in a snapshot or in a workspace that was kept.
//!
//! `FLEET_TEST_SOAK_SECONDS` sets how long the long ones take, `FLEET_TEST_SEED` what happens in them:
//! `FLEET_TEST_BINARY=target/release/fleet cargo test -p codefleet --test faults heavy_soak -- --ignored --nocapture`

mod ledger;
mod trouble;
mod world;

use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::time::Duration;
use std::{env, fs};

use fleet_testkit::postgres;
use fleet_testkit::user::Housekeeping;

use self::trouble::Trouble;
use self::world::World;

/// How long the long ones take.
const LONG: Duration = Duration::from_mins(25);
/// An account that every machine has, for tests that root starts.
const ORDINARY: u32 = 65534;

fn soak(world: &World, span: Duration) {
    let number = |name: &str| env::var(name).ok().map(|text| text.parse().unwrap());
    let seed = number("FLEET_TEST_SEED").unwrap_or(7);
    eprintln!("FLEET_TEST_SEED={seed}");
    let user = Housekeeping::begin(world.repo.path());
    let mut trouble = Trouble::new(world, seed);
    trouble.rage(span);
    let told = trouble.end();
    let rounds = user.end();
    let (tasks, contents) = world.assert_nothing_lost();
    eprintln!("{told}; {rounds} rounds of the user; {tasks} tasks, {contents} contents");
    assert!(rounds > 0 && contents > 0, "something happened");
}

fn long() -> Duration {
    let wish = env::var("FLEET_TEST_SOAK_SECONDS").ok();
    wish.map_or(LONG, |seconds| Duration::from_secs(seconds.parse().unwrap()))
}

/// Runs another test of this file in the account of an ordinary user, if root runs this one.
pub(crate) fn as_ordinary_user(test: &str) {
    assert!(rustix::process::geteuid().is_root(), "run {test} instead: this account is an ordinary one");
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::chown(folder.path(), Some(ORDINARY), Some(ORDINARY)).unwrap();
    let mut command = Command::new(env::current_exe().unwrap());
    command.args([test, "--exact", "--ignored", "--nocapture"]).uid(ORDINARY).gid(ORDINARY);
    command.env("TMPDIR", folder.path()).env("HOME", folder.path()).current_dir("/");
    assert!(command.status().unwrap().success());
    assert!(fs::exists(folder.path()).unwrap());
}

#[test]
fn heavy_two_homes_on_one_store_lose_nothing_whoever_is_killed() {
    let database = postgres::database();
    soak(&World::new(2, Some(database.url())), Duration::from_secs(8));
}

#[test]
#[ignore = "25 minutes"]
fn heavy_soak_sqlite() {
    soak(&World::new(1, None), long());
}

#[test]
#[ignore = "25 minutes"]
fn heavy_soak_postgres() {
    let database = postgres::database();
    soak(&World::new(2, Some(database.url())), long());
}

#[test]
#[ignore = "25 minutes"]
fn heavy_soak_sqlite_as_an_ordinary_user() {
    as_ordinary_user("soak::heavy_soak_sqlite");
}

#[test]
#[ignore = "25 minutes"]
fn heavy_soak_postgres_as_an_ordinary_user() {
    as_ordinary_user("soak::heavy_soak_postgres");
}
