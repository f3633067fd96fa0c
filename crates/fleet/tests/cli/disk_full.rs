//! A disk without space: told as such, and nothing is lost.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use super::support::{World, error};

/// A small file system of its own, gone with this.
struct SmallDisk {
    dir: tempfile::TempDir,
}

impl SmallDisk {
    /// None, and a word about it, where we may not mount.
    fn mount() -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=2m,mode=700", "tmpfs"]).arg(dir.path());
        let mounted = mount.output().is_ok_and(|output| output.status.success());
        if !mounted {
            eprintln!("skipped: a small file system can only be mounted by root on Linux");
        }
        mounted.then(|| Self { dir })
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Writes until nothing more fits, and returns the file to remove.
    fn fill(&self) -> std::path::PathBuf {
        let path = self.path().join("filling");
        let mut file = OpenOptions::new().append(true).create(true).open(&path).unwrap();
        for size in [64 << 10, 4 << 10, 1] {
            while file.write_all(&vec![0; size]).is_ok() {}
        }
        path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(self.path()).status();
        assert!(unmounted.is_ok_and(|status| status.success()) || std::thread::panicking());
    }
}

#[test]
fn a_full_disk_loses_nothing() {
    let Some(disk) = SmallDisk::mount() else { return };
    let mut world = World::sqlite();
    world.fleet = world.fleet.env("FLEET_HOME", disk.path());
    world.add("First");
    let before = world.content();
    let filling = disk.fill();
    let big = "x".repeat(200 << 10);
    let add = ["task", "add", "Second", "-", "--json"];
    let (code, message, hints) = error(&world.fleet.stdin(big.as_str()).fail(5, &add));
    assert_eq!(code, "store-full", "{message}");
    assert!(hints.contains("nothing was changed"), "{hints}");
    assert_eq!(world.content(), before, "what was there can still be read");
    let sick = world.fleet.fail(7, &["doctor", "--json"]).stdout;
    let sick: serde_json::Value = serde_json::from_str(&sick).unwrap();
    let space = sick["checks"].as_array().unwrap().iter().find(|check| check["name"] == "space").unwrap();
    assert_eq!(space["verdict"], "bad", "{space}");
    assert!(space["hints"].to_string().contains("fleet gc"), "{space}");
    fs::remove_file(filling).unwrap();
    world.fleet.stdin(big.as_str()).ok(&add);
    assert!(world.content().starts_with(before.lines().next().unwrap()));
    assert_eq!(world.fleet.json(&["doctor"])["healthy"], true);
}

#[test]
fn a_full_disk_has_no_room_for_a_new_store() {
    let Some(disk) = SmallDisk::mount() else { return };
    let mut world = World::sqlite();
    world.fleet = world.fleet.env("FLEET_HOME", disk.path());
    let filling = disk.fill();
    let (code, message, _) = error(&world.fleet.fail(5, &["task", "add", "First", "--json"]));
    assert_eq!(code, "store-full", "{message}");
    fs::remove_file(filling).unwrap();
    world.add("First");
    assert_eq!(world.fleet.json(&["doctor"])["healthy"], true);
}
