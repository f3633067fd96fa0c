//! A recording whose writer is killed.

use std::path::Path;
use std::time::Duration;

use fleet_host::TerminalSize;
use fleet_host::recording::{Recorded, Recording, RecordingReader};
use fleet_testkit::wait_until;

use crate::BOUND;
use crate::actor::{Actor, Part};

const CAP: u64 = 64 << 20;

/// Writes numbers until it is killed.
pub(crate) fn play(path: &Path) {
    let mut recording = Recording::create(path, TerminalSize::default(), "title", CAP).unwrap();
    for number in 0_u64.. {
        recording.output(Duration::from_millis(20 * number), format!("{number}\n").as_bytes()).unwrap();
        recording.flush().unwrap();
    }
}

fn numbers(path: &Path) -> Vec<(Duration, String)> {
    let events = RecordingReader::open(path).unwrap().map(Result::unwrap);
    let output = events.filter_map(|event| match event.what {
        Recorded::Output(text) => Some((event.time, text)),
        Recorded::Resize(_) | Recorded::Marker(_) => None,
    });
    output.collect()
}

#[test]
fn a_killed_writer_leaves_a_recording_that_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("terminal.cast");
    let mut before = Vec::new();
    for round in 0..5 {
        let mut writer = Actor::start(&Part::Record { path: path.clone() });
        let length = || path.metadata().map_or(0, |file| file.len());
        let begin = length();
        wait_until(BOUND, "it writes", || length() > begin + 4096);
        writer.kill();
        let now = numbers(&path);
        assert!(now.len() > before.len() + 50);
        assert_eq!(now[..before.len()], before, "what was there stays");
        assert!(now.is_sorted_by_key(|(time, _)| *time), "time goes on");
        let started = now.iter().filter(|(_, text)| text == "0\n").count();
        assert_eq!(started, round + 1);
        before = now;
    }
}
