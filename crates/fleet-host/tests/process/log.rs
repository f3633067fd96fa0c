//! Logs that are capped, read while they are written, and whose writers are killed.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::thread;

use fleet_host::log::{CappedLog, LogPiece, LogReader};
use fleet_testkit::wait_until;

use crate::BOUND;
use crate::actor::{Actor, Part};

const RECORD: u64 = 16;

/// A stream of which every byte follows from its position: numbered lines of sixteen bytes.
fn stream(from: u64, length: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut record = from / RECORD;
    while bytes.len() < length + 16 {
        bytes.extend_from_slice(format!("{record:015}\n").as_bytes());
        record += 1;
    }
    let skip = usize::try_from(from % RECORD).unwrap();
    bytes[skip..skip + length].to_vec()
}

fn write(log: &mut CappedLog, length: usize) {
    log.write_all(&stream(log.position(), length)).unwrap();
}

pub(crate) fn play(path: &Path, cap: u64) {
    let mut log = CappedLog::open(path, cap).unwrap();
    loop {
        write(&mut log, 1000);
    }
}

/// What a log holds, checked against the stream: pieces as (offset, length, whether it is there).
fn read_all(path: &Path) -> Vec<(u64, u64, bool)> {
    let mut reader = LogReader::new(path);
    let mut parts: Vec<(u64, u64, bool)> = Vec::new();
    while let Some(piece) = reader.next_piece(777).unwrap() {
        let (offset, length, is_there) = match piece {
            LogPiece::Bytes { offset, bytes } => {
                assert_eq!(bytes, stream(offset, bytes.len()), "at {offset}");
                (offset, bytes.len() as u64, true)
            }
            LogPiece::Gap { offset, left_out } => (offset, left_out, false),
        };
        match parts.last_mut() {
            Some(last) if last.2 == is_there => last.1 += length,
            last => {
                assert_eq!(last.map_or(0, |last| last.0 + last.1), offset, "nothing is passed over");
                parts.push((offset, length, is_there));
            }
        }
    }
    assert_eq!(parts.last().map_or(0, |last| last.0 + last.1), reader.end().unwrap());
    parts
}

fn size_on_disk(path: &Path) -> u64 {
    let files = fs::read_dir(path.parent().unwrap()).unwrap();
    files.map(|file| file.unwrap().metadata().unwrap().len()).sum()
}

fn tail(path: &Path) -> PathBuf {
    PathBuf::from(format!("{}.tail", path.display()))
}

struct Place {
    path: PathBuf,
    _folder: tempfile::TempDir,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    Place { path: folder.path().join("stdout.log"), _folder: folder }
}

#[test]
fn a_short_log_is_a_plain_file() {
    let place = place();
    assert_eq!(read_all(&place.path), [], "a log that is not there is empty");
    let mut log = CappedLog::open(&place.path, 4096).unwrap();
    write(&mut log, 2048);
    assert_eq!(fs::read(&place.path).unwrap(), stream(0, 2048));
    assert_eq!(fs::metadata(&place.path).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!tail(&place.path).exists());
    assert_eq!((log.position(), log.left_out()), (2048, 0));
}

#[test]
fn beginning_and_newest_bytes_are_kept_within_the_cap() {
    let place = place();
    let mut log = CappedLog::open(&place.path, 4096).unwrap();
    for length in [1, 2047, 1, 900, 5000, 3, 100_000, 17] {
        write(&mut log, length);
        let parts = read_all(&place.path);
        assert_eq!(parts[0].0, 0);
        assert!(size_on_disk(&place.path) <= 4096);
        let left_out: u64 = parts.iter().filter(|part| !part.2).map(|part| part.1).sum();
        assert_eq!(left_out, log.left_out());
        assert_eq!(parts.iter().map(|part| part.1).sum::<u64>(), log.position());
    }
    let parts = read_all(&place.path);
    assert_eq!(parts.len(), 3, "{parts:?}");
    assert_eq!(parts[0], (0, 2048, true));
    assert!(parts[2].1 >= 900, "the newest quarter at least: {parts:?}");
}

#[test]
fn going_on_with_a_log() {
    let place = place();
    let mut length = 0;
    // Each cap in turn, as if the setting had been changed.
    for (cap, more) in [(4096, 100), (4096, 3000), (4096, 1), (1024, 500), (65_536, 5000), (4096, 20_000)] {
        let mut log = CappedLog::open(&place.path, cap).unwrap();
        assert_eq!(log.position(), length);
        write(&mut log, more);
        length = log.position();
        let left_out: u64 = read_all(&place.path).iter().filter(|part| !part.2).map(|part| part.1).sum();
        assert_eq!(left_out, log.left_out());
        assert_eq!(CappedLog::open(&place.path, cap).unwrap().left_out(), left_out);
    }
    assert_eq!(length, 28_601);
}

#[test]
fn a_writer_that_was_killed_between_two_steps() {
    // After a tail was renamed, and after the new one was made but not begun.
    for half in [None, Some(""), Some("# fleet: fro")] {
        let place = place();
        let mut log = CappedLog::open(&place.path, 4096).unwrap();
        write(&mut log, 2048 + 900);
        fs::rename(tail(&place.path), format!("{}.tail.1", place.path.display())).unwrap();
        if let Some(half) = half {
            fs::write(tail(&place.path), half).unwrap();
        }
        assert_eq!(read_all(&place.path), [(0, 2948, true)], "{half:?}");
        let mut log = CappedLog::open(&place.path, 4096).unwrap();
        assert_eq!(log.position(), 2948);
        write(&mut log, 500);
        assert_eq!(read_all(&place.path), [(0, 3448, true)], "{half:?}");
    }
}

#[test]
fn writers_that_are_killed_at_any_time() {
    let place = place();
    let cap = 64 * 1024;
    let mut last = 0;
    for _ in 0..10 {
        let mut writer = Actor::start(&Part::Write { path: place.path.clone(), cap });
        let reader = LogReader::new(&place.path);
        wait_until(BOUND, "it writes", || reader.end().unwrap() > last + 200_000);
        writer.kill();
        let parts = read_all(&place.path);
        assert!(parts.iter().filter(|part| !part.2).count() <= 1, "{parts:?}");
        assert!(size_on_disk(&place.path) <= cap);
        last = reader.end().unwrap();
        assert_eq!(CappedLog::open(&place.path, cap).unwrap().position(), last);
    }
}

#[test]
fn following_while_it_is_written() {
    const LENGTH: u64 = 3_000_000;
    let place = place();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut log = CappedLog::open(&place.path, 16 * 1024).unwrap();
            while log.position() < LENGTH {
                write(&mut log, 500);
            }
        });
        let mut reader = LogReader::new(&place.path);
        let (mut position, mut seen) = (0, 0);
        wait_until(BOUND, "all of it was read", || {
            while let Some(piece) = reader.next_piece(4096).unwrap() {
                let (offset, length) = match piece {
                    LogPiece::Bytes { offset, bytes } => {
                        assert_eq!(bytes, stream(offset, bytes.len()));
                        seen += bytes.len();
                        (offset, bytes.len() as u64)
                    }
                    LogPiece::Gap { offset, left_out } => (offset, left_out),
                };
                assert_eq!(offset, position);
                position += length;
                assert_eq!(reader.position(), position);
            }
            position >= LENGTH
        });
        assert!(seen > 8 * 1024);
    });
}

fn last_lines(path: &Path, lines: usize) -> String {
    let mut reader = LogReader::at_last_lines(path, lines).unwrap();
    let mut text = String::new();
    while let Some(piece) = reader.next_piece(1 << 20).unwrap() {
        match piece {
            LogPiece::Bytes { bytes, .. } => text.push_str(&String::from_utf8(bytes).unwrap()),
            LogPiece::Gap { .. } => text.push('…'),
        }
    }
    text
}

#[test]
fn the_last_lines_of_a_plain_log() {
    let place = place();
    assert_eq!(last_lines(&place.path, 3), "");
    for (log, lines, expected) in [
        ("one\ntwo\nthree\n", 2, "two\nthree\n"),
        ("one\ntwo\nthree", 2, "two\nthree"),
        ("one\ntwo\nthree\n", 3, "one\ntwo\nthree\n"),
        ("one\ntwo\nthree\n", 100, "one\ntwo\nthree\n"),
        ("one\n\n\n", 2, "\n\n"),
        ("one\n", 0, ""),
        ("\n", 1, "\n"),
    ] {
        fs::write(&place.path, log).unwrap();
        assert_eq!(last_lines(&place.path, lines), expected, "{lines} of {log:?}");
    }
}

#[test]
fn the_last_lines_across_files_and_blocks() {
    let place = place();
    let mut log = CappedLog::open(&place.path, 1 << 20).unwrap();
    write(&mut log, 10_000_000);
    for lines in [1_u32, 2, 5000, 17_000] {
        let text = last_lines(&place.path, lines as usize);
        let length = u64::from(lines) * RECORD;
        assert_eq!(text.as_bytes(), stream(10_000_000 - length, usize::try_from(length).unwrap()));
    }
    assert!(last_lines(&place.path, 40_000).contains('…'), "these reach back over the gap");
}

#[test]
fn reading_from_a_position() {
    let place = place();
    let mut log = CappedLog::open(&place.path, 4096).unwrap();
    write(&mut log, 50_000);
    let next = |position| LogReader::starting_at(&place.path, position).next_piece(10).unwrap();
    assert_eq!(next(2000), Some(LogPiece::Bytes { offset: 2000, bytes: stream(2000, 10) }));
    assert_eq!(next(49_995), Some(LogPiece::Bytes { offset: 49_995, bytes: stream(49_995, 5) }));
    let Some(LogPiece::Gap { offset: 3000, left_out }) = next(3000) else { panic!("a gap") };
    assert!((40_000..47_000).contains(&left_out));
    assert_eq!(next(50_000), None);
    assert_eq!(next(60_000), None);
}

#[test]
fn a_tail_that_is_something_else_is_not_overwritten() {
    let place = place();
    fs::write(tail(&place.path), "what somebody else has put here, which is long enough").unwrap();
    assert!(CappedLog::open(&place.path, 4096).is_err());
    assert!(LogReader::new(&place.path).next_piece(10).is_err());
}
