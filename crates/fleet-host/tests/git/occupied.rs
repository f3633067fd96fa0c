//! Workspaces that somebody works in who has nothing to do with the next run.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::sandbox::Sandbox;
use crate::support::{area, opened, project};
use fleet_host::git::Area;
use fleet_testkit::wait_until;

const BOUND: Duration = Duration::from_mins(1);

/// A process of nobody's, which ends with the test.
struct Stranger(Child);

impl Stranger {
    fn in_shell(place: &Path, script: &str) -> Self {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", script]).current_dir(place).env_clear().stdin(Stdio::null());
        Self(shell.spawn().unwrap())
    }

    fn end(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The one workspace of an area that was used and given back.
fn used(area: &Area) -> std::path::PathBuf {
    let workspace = opened(area, "r1", "one");
    let path = workspace.path().to_owned();
    workspace.release().unwrap();
    path
}

#[test]
fn a_workspace_that_somebody_works_in_is_given_to_nobody() {
    for script in ["exec sleep 600", "exec 3<README.md; cd /; exec sleep 600"] {
        let sandbox = Sandbox::new();
        let repo = project(&sandbox, "main");
        let area = area(&sandbox, &repo);
        let path = used(&area);
        let stranger = Stranger::in_shell(&path, script);
        let pid = i32::try_from(stranger.0.id()).unwrap();
        wait_until(BOUND, "the stranger sleeps", || {
            area.occupied().unwrap().iter().any(|slot| slot.occupants[0].name == "sleep")
        });
        let second = opened(&area, "r2", "two");
        assert_ne!(second.path(), path, "{script}");
        let occupied = area.occupied().unwrap();
        assert_eq!(occupied.len(), 1, "{script}: {occupied:?}");
        assert_eq!((&occupied[0].path, occupied[0].occupants[0].pid), (&path, pid));
        assert_eq!(occupied[0].occupants[0].to_string(), format!("sleep {pid}"));
        // It is as it was, and taken up again.
        stranger.end();
        assert!(area.occupied().unwrap().is_empty());
        let third = opened(&area, "r3", "three");
        assert!(third.path() == path && third.recycled(), "{script}");
    }
}

#[test]
fn workspaces_that_somebody_works_in_leave_room_in_the_pool() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let area = Area { pool: 1, ..area(&sandbox, &repo) };
    let path = used(&area);
    let _stranger = Stranger::in_shell(&path, "exec sleep 600");
    let second = opened(&area, "r2", "two");
    let warm = second.path().to_owned();
    second.release().unwrap();
    let third = opened(&area, "r3", "three");
    assert!(third.recycled() && third.path() == warm);
}

/// After the end of a run whose processes may not all have been found.
#[test]
fn a_path_in_quarantine_is_not_used_before_a_restart() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let area = area(&sandbox, &repo);
    let workspace = opened(&area, "r1", "one");
    let path = workspace.path().to_owned();
    let stranger = Stranger::in_shell(&path, "cd \"$PWD\"; while :; do echo x > left; sleep 0.01; done");
    workspace.quarantine().unwrap();
    workspace.release().unwrap();
    assert!(!path.exists(), "whoever works in it was moved away with it");
    // Somebody who knows only the path makes it anew.
    fs::create_dir(&path).unwrap();
    fs::write(path.join("left"), "x").unwrap();
    for (owner, branch) in [("r2", "two"), ("r3", "three")] {
        let next = opened(&area, owner, branch);
        assert_ne!(next.path(), path);
        assert!(!next.path().join("left").exists());
        next.release().unwrap();
    }
    stranger.end();
    fs::remove_dir_all(&path).unwrap();
    let note = path.with_extension("quarantined");
    fs::write(&note, "an earlier boot").unwrap();
    let [_warm, again] = [("r4", "four"), ("r5", "five")].map(|(owner, branch)| opened(&area, owner, branch));
    assert_eq!(again.path(), path);
    assert!(!note.exists());
}
