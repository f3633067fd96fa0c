//! Disks without space, while a run is at work.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use fleet_testkit::wait_until;

use super::processes::{is_alive, kill};
use super::stage::{BOUND, Stage};

/// A small file system over a folder, gone with this.
pub(crate) struct SmallDisk {
    at: PathBuf,
}

impl SmallDisk {
    /// Over a folder, which keeps what is in it. None, and a word about it, where we may not mount.
    fn over(folder: &Path, size: &str) -> Option<Self> {
        let before = tempfile::tempdir().unwrap();
        copy(folder, before.path());
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size},mode=700"), "tmpfs"]).arg(folder);
        if !mount.output().is_ok_and(|output| output.status.success()) {
            eprintln!("skipped: a small file system can only be mounted by root");
            return None;
        }
        copy(before.path(), folder);
        Some(Self { at: folder.to_owned() })
    }

    /// Writes until nothing more fits.
    fn fill(&self) {
        let mut file = fs::File::create(self.at.join("filling")).unwrap();
        while std::io::Write::write(&mut file, &[0; 4096]).is_ok() {}
    }

    fn free(&self) {
        fs::remove_file(self.at.join("filling")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Whoever may still be ending there is not waited for.
        let unmounted = Command::new("umount").arg("--lazy").arg(&self.at).status();
        assert!(unmounted.is_ok_and(|status| status.success()) || thread::panicking());
    }
}

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").arg(from.join(".")).arg(to).status();
    assert!(copied.unwrap().success());
}

/// What becomes of the keeper while there is no space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keeper {
    Lives,
    Killed,
}

/// The agent ends on a full disk; once there is space again, all is well.
fn full(keeper: Keeper, disk_of: fn(&Stage) -> Option<SmallDisk>) {
    let stage = Stage::new();
    let Some(disk) = disk_of(&stage) else { return };
    let task = stage.add(&stage.steps());
    let runner = stage.run(None);
    stage.wait_for("written");
    let run = stage.live_run();
    let (keeper_pid, agent) = (stage.keeper_pid(&run), stage.agent_pid(&run));
    disk.fill();
    if keeper == Keeper::Killed {
        kill(keeper_pid);
    }
    stage.give("go");
    wait_until(BOUND, "the end of the agent", || !is_alive(agent));
    // Long enough for everybody to notice. What matters is what happens afterwards.
    thread::sleep(Duration::from_secs(3));
    disk.free();
    stage.assert_well(&task, runner);
    drop(stage);
    drop(disk);
}

fn home(stage: &Stage) -> Option<SmallDisk> {
    SmallDisk::over(stage.home(), "16m")
}

fn objects(stage: &Stage) -> Option<SmallDisk> {
    SmallDisk::over(&stage.repo.path().join(".git/objects"), "2m")
}

#[test]
fn the_home_is_full_when_the_agent_ends() {
    full(Keeper::Lives, home);
}

#[test]
fn the_home_is_full_when_the_keeper_is_killed() {
    full(Keeper::Killed, home);
}

#[test]
fn the_repository_is_full_when_the_agent_ends() {
    full(Keeper::Lives, objects);
}

#[test]
fn the_repository_is_full_when_the_keeper_is_killed() {
    full(Keeper::Killed, objects);
}

/// An agent that says nothing and changes nothing leaves nothing that would have to be stored before its end is. Its end
/// cannot be noted either, so that nobody else could tell the store how it ended.
#[test]
fn the_home_is_full_when_a_quiet_agent_ends() {
    let stage = Stage::new();
    let at = |name: &str| stage.sign(name).display().to_string();
    let (script, written, go) = (stage.sign("agent.sh"), at("written"), at("go"));
    let steps =
        format!("#!/bin/sh\ncat > /dev/null\n: > '{written}'\nwhile [ ! -e '{go}' ]; do sleep 0.1; done\n");
    fs::write(&script, steps).unwrap();
    fs::set_permissions(&script, Permissions::from_mode(0o755)).unwrap();
    let config =
        format!("[agents.quiet]\nprogram = '{}'\noutput = 'lines'\nprompt = 'stdin'\n", script.display());
    fs::write(stage.home().join("config.toml"), config).unwrap();
    let Some(disk) = home(&stage) else { return };
    let added =
        stage.fleet.json(&["task", "add", "Quiet", "--agent", "quiet", "--retries", "0", "--read-only"]);
    let task = added["id"].as_str().unwrap();
    let runner = stage.run(None);
    stage.wait_for("written");
    let agent = stage.agent_pid(&stage.live_run());
    disk.fill();
    stage.give("go");
    wait_until(BOUND, "the end of the agent", || !is_alive(agent));
    // Long enough to be refused several times.
    thread::sleep(Duration::from_secs(3));
    disk.free();
    stage.wait_status(task, "done");
    stage.assert_tidy([runner]);
    assert_eq!(stage.task(task)["attempts"], 1, "it was a good run");
    drop(stage);
    drop(disk);
}

/// A keeper that cannot renew because nobody can write is not stuck.
#[test]
fn a_full_store_is_no_reason_to_kill_anybody() {
    let stage = Stage::new();
    let Some(disk) = home(&stage) else { return };
    let task = stage.add(&stage.steps());
    let runner = stage.run(None);
    stage.wait_for("written");
    let run = stage.live_run();
    let (keeper, agent) = (stage.keeper_pid(&run), stage.agent_pid(&run));
    disk.fill();
    // Two leases, and two looks of the runner.
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(15) {
        assert!(is_alive(keeper) && is_alive(agent), "killed after {:?}", begun.elapsed());
        thread::sleep(Duration::from_millis(100));
    }
    disk.free();
    stage.give("go");
    stage.assert_well(&task, runner);
    assert_eq!(stage.task(&task)["attempts"], 1);
    drop(stage);
    drop(disk);
}
