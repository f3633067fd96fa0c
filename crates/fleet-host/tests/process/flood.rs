//! An agent that writes more than anybody can hold.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;

use fleet_host::lines::LineSplitter;
use fleet_host::log::CappedLog;
use fleet_host::process::{Launch, StdinFrom, launch};

use crate::actor::{Actor, Part, announce};

const CAP: u64 = 1 << 20;
const FLOOD: u64 = 100_000_000;

/// Reads two floods, one of a single line and one of many, as a keeper does, and notes how much memory that took.
pub(crate) fn play(folder: &Path) {
    for (name, command) in
        [("line", "head -c 100000000 /dev/zero"), ("lines", "yes 0123456789012345678 | head -c 100000000")]
    {
        let flood = Launch {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), command.into()],
            env: vec![("PATH".into(), "/usr/bin:/bin".into())],
            cwd: "/".into(),
            stdin: StdinFrom::Null,
        };
        let mut started = launch(&flood).unwrap();
        let mut log = CappedLog::open(&folder.join(name), CAP).unwrap();
        let mut lines = LineSplitter::new(256 * 1024);
        let (mut room, mut count) = (vec![0; 64 * 1024], 0_u64);
        loop {
            let length = started.stdout.read(&mut room).unwrap();
            if length == 0 {
                break;
            }
            log.write_all(&room[..length]).unwrap();
            lines.push(&room[..length], &mut |_| count += 1);
        }
        lines.finish(&mut |_| count += 1);
        assert_eq!((log.position(), lines.position()), (FLOOD, FLOOD));
        announce(&folder.join(name).with_extension("count"), &count.to_string());
    }
    let memory = fs::read_to_string("/proc/self/status").unwrap_or_default();
    announce(&folder.join("status"), &memory);
}

#[test]
fn memory_and_disk_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    Actor::start(&Part::Flood { folder: folder.path().to_owned() }).succeed();
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!((read("line.count").as_str(), read("lines.count").as_str()), ("1", "5000000"));
    for name in ["line", "lines"] {
        let files = [name.to_owned(), format!("{name}.tail"), format!("{name}.tail.1")];
        let size: u64 = files.iter().map(|file| fs::metadata(folder.path().join(file)).unwrap().len()).sum();
        assert!((CAP / 2..=CAP).contains(&size), "{size}");
    }
    let status = read("status");
    // Only Linux tells.
    if let Some(peak) = status.lines().find_map(|line| line.strip_prefix("VmHWM:")) {
        let kib: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
        assert!(kib < 32 * 1024, "{kib} KiB");
    }
}
