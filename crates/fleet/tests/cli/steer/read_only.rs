//! A repository on a file system that became read-only.

use std::path::PathBuf;
use std::process::Command;

use fleet_testkit::wait_until;

use super::{SOON, Yard};

/// A folder that nobody can write to, until this is gone.
struct ReadOnly(PathBuf);

impl ReadOnly {
    /// None, and a word about it, where we may not mount.
    fn over(yard: &Yard) -> Option<Self> {
        let path = yard.repo.path();
        let mount = |arguments: &[&str]| {
            let done = Command::new("mount").args(arguments).arg(path).output();
            done.is_ok_and(|output| output.status.success())
        };
        if !mount(&["--bind", path.to_str().unwrap()]) {
            eprintln!("skipped: a folder can only be made read-only by root on Linux");
            return None;
        }
        let made = Self(path.to_owned());
        assert!(mount(&["-o", "remount,bind,ro"]));
        Some(made)
    }
}

impl Drop for ReadOnly {
    fn drop(&mut self) {
        // At once, whoever is still in it.
        let unmounted = Command::new("umount").arg("--lazy").arg(&self.0).status();
        assert!(unmounted.is_ok_and(|status| status.success()) || std::thread::panicking());
    }
}

#[test]
fn a_run_that_cannot_begin_in_a_read_only_repository_says_so() {
    let yard = Yard::new();
    let task = yard.add("mine", "write a x");
    let Some(_read_only) = ReadOnly::over(&yard) else { return };
    yard.finish_all();
    let shown = yard.task(&task);
    assert_eq!(shown["reason"], "workspace_failed", "{shown}");
    assert!(shown["remark"].as_str().unwrap().contains("Read-only file system"), "{shown}");
}

#[test]
fn a_kill_beside_a_read_only_repository_says_where_the_work_is() {
    let mut yard = Yard::new();
    let task = yard.add_staying("mine", "write a x");
    yard.start_runner();
    yard.at_work(&["mine"]);
    let Some(read_only) = ReadOnly::over(&yard) else { return };
    let said = yard.fleet.ok(&["kill", "mine", "--yes"]);
    assert!(said.contains("Read-only file system") && !said.contains("committing"), "{said}");
    wait_until(SOON, "the run has ended", || yard.task(&task)["runs"][0]["ended_at"].is_string());
    let shown = yard.fleet.ok(&["show", &task]);
    assert!(shown.contains("could not be brought to its branch") && shown.contains("Read-only"), "{shown}");
    drop(read_only);
}
