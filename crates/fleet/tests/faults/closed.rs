//! What other processes of the same user can learn about those that hold secrets.

use std::io::ErrorKind;
use std::{env, fs};

use fleet_testkit::wait_until;

use super::soak::as_ordinary_user;
use super::stage::{BOUND, Stage};

/// Root may read everything.
#[test]
fn the_environment_of_runners_and_keepers_is_closed() {
    if rustix::process::geteuid().is_root() {
        as_ordinary_user("closed::read_by_an_ordinary_user");
    } else {
        read_by_an_ordinary_user();
    }
}

#[test]
#[ignore = "run by the test above, in another account"]
fn read_by_an_ordinary_user() {
    let mut stage = Stage::new();
    // What git gets can be read: it must not be among that.
    let seen = stage.sign("seen");
    let bin = stage.home().parent().unwrap().join("bin");
    fs::create_dir(&bin).unwrap();
    let path = env::var("PATH").unwrap();
    let script = format!("#!/bin/sh\nenv >> '{}'\nPATH='{path}' exec git \"$@\"\n", seen.display());
    fs::write(bin.join("git"), script).unwrap();
    fs::set_permissions(bin.join("git"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    stage.fleet = stage.fleet.env("PATH", format!("{}:{path}", bin.display())).env("MY_CLOUD_TOKEN", "xyzzy");
    stage.add(&stage.steps());
    let runner = stage.run(None);
    stage.wait_for("written");
    let keeper = stage.keeper_pid(&stage.live_run());
    for (who, pid) in [("runner", runner.pid()), ("keeper", keeper)] {
        for file in ["environ", "mem"] {
            let error = fs::File::open(format!("/proc/{pid}/{file}")).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{who}: {file}");
        }
    }
    wait_until(BOUND, "git was asked", || {
        fs::read_to_string(&seen).is_ok_and(|text| text.contains("GIT_DIR="))
    });
    let text = fs::read_to_string(&seen).unwrap();
    assert!(!text.contains("xyzzy") && !text.contains("FLEET_RUNNER_"), "{text}");
    stage.give("go");
}
