//! A binary that was replaced by one that does not work.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use fleet_testkit::fleet::binary;
use fleet_testkit::wait_until;

use super::stage::{BOUND, Running, Stage};

/// Puts a program in the place of another one, as an installation does. Nobody has it open for writing: it could not be
/// started then.
fn install(from: &Path, program: &Path) {
    let new = program.with_extension("new");
    fs::hard_link(from, &new).or_else(|_| fs::copy(from, &new).map(drop)).unwrap();
    fs::rename(&new, program).unwrap();
}

#[test]
fn a_broken_binary_uses_up_nobodys_retries() {
    let stage = Stage::new();
    let program = stage.fleet.user_home().join("fleet");
    let works = binary(env!("CARGO_BIN_EXE_fleet"));
    install(&works, &program);
    let log = stage.fleet.user_home().join("said.log");
    let said = fs::File::create(&log).unwrap();
    let installed = stage.fleet.with_program(&program);
    let mut command = installed.command(&["run", "--slots", "2"]);
    command.stdin(std::process::Stdio::null()).stdout(said.try_clone().unwrap()).stderr(said);
    let runner = Running::new(command.spawn().unwrap());
    wait_until(BOUND, "the runner is up", || fs::read_to_string(&log).unwrap().contains("is up"));

    let broken = stage.fleet.user_home().join("broken");
    fs::write(&broken, "#!/bin/sh\necho cannot execute >&2\nexit 127\n").unwrap();
    fs::set_permissions(&broken, Permissions::from_mode(0o755)).unwrap();
    install(&broken, &program);
    let tasks: Vec<String> = (0..3).map(|_| stage.add_with("write done.txt x", 0)).collect();
    let count = || fs::read_to_string(&log).unwrap().matches("never began").count();
    wait_until(BOUND, "it was tried more than once", || count() >= 3);
    for task in &tasks {
        let shown = stage.task(task);
        assert_eq!(shown["failures"], 0, "{shown:#}");
        assert_ne!(shown["state"], "failed");
    }
    let attempts = || tasks.iter().map(|task| stage.task(task)["attempts"].as_i64().unwrap()).sum::<i64>();
    assert!(attempts() <= 12, "{} attempts: it goes on and on", attempts());

    install(&works, &program);
    for task in &tasks {
        stage.wait_status(task, "done");
    }
    stage.assert_tidy([runner]);
}
