use std::fs;
use std::io::{self, Cursor, ErrorKind};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::screen::ClientView;

const CAP: u64 = 1 << 20;

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("terminal.cast")
    }

    fn record(&self) -> Recording {
        Recording::create(&self.path(), TerminalSize::new(80, 24), "a \"title\"", CAP).unwrap()
    }

    fn events(&self) -> Vec<(u64, Recorded)> {
        let reader = RecordingReader::open(&self.path()).unwrap();
        reader.map(Result::unwrap).map(|event| (millis(event.time), event.what)).collect()
    }

    fn text(&self) -> String {
        fs::read_to_string(self.path()).unwrap()
    }
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap()
}

fn output(text: &str) -> Recorded {
    Recorded::Output(text.to_owned())
}

#[test]
fn asciinema_can_read_it() {
    let folder = Folder::new();
    let mut recording = folder.record();
    recording.output(ms(1500), b"\x1b[1mhi\r\n").unwrap();
    recording.resize(ms(2000), TerminalSize::new(100, 30)).unwrap();
    drop(recording);
    // Fields come in an order that depends on how serde_json was built.
    let text = folder.text();
    let (head, events) = text.split_once('\n').unwrap();
    let expected = serde_json::json!({"height": 24, "title": "a \"title\"", "version": 2, "width": 80});
    assert_eq!(head.parse::<serde_json::Value>().unwrap(), expected);
    let expected = concat!("[1.500000, \"o\", \"\\u001b[1mhi\\r\\n\"]\n", "[2.000000, \"r\", \"100x30\"]\n",);
    assert_eq!(events, expected);
    let reader = RecordingReader::open(&folder.path()).unwrap();
    assert_eq!((reader.size(), reader.title()), (TerminalSize::new(80, 24), Some("a \"title\"")));
    assert_eq!(
        folder.events(),
        [(1500, output("\x1b[1mhi\r\n")), (2000, Recorded::Resize(TerminalSize::new(100, 30)))]
    );
    assert_eq!(fs::metadata(folder.path()).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn output_of_one_moment_is_one_event() {
    let folder = Folder::new();
    let mut recording = folder.record();
    for time in [0, 5, 10, 15, 16, 20, 100] {
        recording.output(ms(time), b"x").unwrap();
    }
    assert_eq!(folder.events(), [(0, output("xxxx")), (16, output("xx"))]);
    assert!(recording.is_pending());
    recording.flush().unwrap();
    assert!(!recording.is_pending());
    assert_eq!(folder.events().last(), Some(&(100, output("x"))));
    recording.output(ms(200), &vec![b'y'; 200 * 1024]).unwrap();
    drop(recording);
    let lengths = folder.events().split_off(3).into_iter().map(|(_, what)| match what {
        Recorded::Output(text) => text.len(),
        other => panic!("{other:?}"),
    });
    assert_eq!(lengths.collect::<Vec<_>>(), [64 * 1024, 64 * 1024, 64 * 1024, 8 * 1024]);
}

proptest! {
    #[test]
    fn characters_are_never_split(text in "\\PC{0,30}", cuts in prop::collection::vec(0_usize..100, 0..8)) {
        let folder = Folder::new();
        let mut recording = folder.record();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).chain([0, text.len()]).collect();
        cuts.sort_unstable();
        for (time, piece) in (0..).zip(cuts.windows(2)) {
            recording.output(ms(time * 50), &text.as_bytes()[piece[0]..piece[1]]).unwrap();
        }
        drop(recording);
        let read: String = folder.events().into_iter().map(|(_, what)| match what {
            Recorded::Output(text) => text,
            other => panic!("{other:?}"),
        }).collect();
        prop_assert_eq!(read, text);
    }

    #[test]
    fn bytes_become_text_however_they_are_split(bytes in prop::collection::vec(any::<u8>(), 0..60), cut in 0_usize..60) {
        let (first, second) = bytes.split_at(cut.min(bytes.len()));
        let (mut decoder, mut text) = (text::TextDecoder::default(), String::new());
        decoder.push(first, &mut text);
        decoder.push(second, &mut text);
        decoder.finish(&mut text);
        prop_assert_eq!(text, String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn it_stops_at_its_limit() {
    let folder = Folder::new();
    let mut recording = Recording::create(&folder.path(), TerminalSize::default(), "title", 8192).unwrap();
    for time in 0..1000 {
        recording.output(ms(time * 20), &[b'x'; 100]).unwrap();
    }
    assert!(recording.is_full());
    drop(recording);
    let events = folder.events();
    let stopped = Recorded::Marker("recording stopped at its limit of 8192 bytes".to_owned());
    assert_eq!(events.last().unwrap().1, stopped);
    assert_eq!(events.iter().filter(|(_, what)| matches!(what, Recorded::Marker(_))).count(), 1);
    let length = folder.text().len();
    assert!((7000..=8192).contains(&length), "{length}");

    let mut again = Recording::create(&folder.path(), TerminalSize::default(), "title", 8192).unwrap();
    assert!(again.is_full());
    again.output(ms(0), b"more").unwrap();
    drop(again);
    assert_eq!(folder.text().len(), length, "and it stays so");
}

#[test]
fn time_goes_on_when_it_is_opened_again() {
    let folder = Folder::new();
    let mut first = folder.record();
    first.output(ms(3000), b"first").unwrap();
    drop(first);
    let mut second = Recording::create(&folder.path(), TerminalSize::new(90, 24), "ignored", CAP).unwrap();
    second.output(ms(500), b"second").unwrap();
    drop(second);
    let resized = Recorded::Resize(TerminalSize::new(90, 24));
    assert_eq!(folder.events(), [(3000, output("first")), (3000, resized), (3500, output("second"))]);
}

#[test]
fn a_line_that_was_cut_off_is_left_out() {
    let folder = Folder::new();
    let mut recording = folder.record();
    recording.output(ms(1), b"first").unwrap();
    recording.output(ms(100), b"second").unwrap();
    drop(recording);
    let whole = folder.text();
    let second = whole.find("[0.1").unwrap();
    for end in 0..whole.len() {
        fs::write(folder.path(), &whole[..end]).unwrap();
        if end >= second {
            assert_eq!(folder.events(), [(1, output("first"))]);
        }
        let mut again = folder.record();
        again.output(ms(50), b"again").unwrap();
        drop(again);
        assert_eq!(folder.events().last().unwrap().1, output("again"), "after {end} bytes");
    }
}

#[test]
fn what_is_not_a_recording_is_left_alone() {
    let folder = Folder::new();
    for text in ["something\nelse", "no line", "{\"version\": 3}\n"] {
        fs::write(folder.path(), text).unwrap();
        let error = Recording::create(&folder.path(), TerminalSize::default(), "", CAP).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
        assert_eq!(folder.text(), text);
    }
    let link = folder.0.path().join("link");
    std::os::unix::fs::symlink(folder.path(), &link).unwrap();
    assert!(Recording::create(&link, TerminalSize::default(), "", CAP).is_err());
}

fn read(text: &str) -> Vec<io::Result<RecordedEvent>> {
    RecordingReader::new(Cursor::new(text.to_owned())).unwrap().collect()
}

#[test]
fn recordings_of_others() {
    let header = "{\"version\": 2, \"width\": 80, \"height\": 24, \"env\": {\"TERM\": \"xterm\"}}\n";
    let events = read(&format!("{header}[0, \"o\", \"a\"]\n\n[1.5, \"i\", \"typed\"]\n[2, \"m\", \"\"]\n"));
    let events: Vec<_> = events.into_iter().map(Result::unwrap).collect();
    assert_eq!(events.len(), 2);
    assert_eq!(events[0], RecordedEvent { time: Duration::ZERO, what: output("a") });

    for bad in ["[-1, \"o\", \"a\"]", "[1e300, \"o\", \"a\"]", "[0, \"r\", \"wide\"]", "nonsense", "[0]"] {
        let events = read(&format!("{header}{bad}\n[1, \"o\", \"more\"]\n"));
        assert_eq!(events.len(), 1, "{bad}");
        assert!(events[0].is_err(), "{bad}");
    }
    let long = format!("{header}[0, \"o\", \"{}\"]\n", "x".repeat(2 << 20));
    assert_eq!(read(&long).remove(0).unwrap_err().kind(), ErrorKind::InvalidData);
    for bad in
        ["", "{\"version\": 2", "[0, \"o\", \"a\"]\n", "{\"version\": 1, \"width\": 8, \"height\": 2}\n"]
    {
        assert!(RecordingReader::new(Cursor::new(bad)).is_err(), "{bad}");
    }
}

fn playback(speed: f64, max_idle: Option<Duration>) -> Playback {
    let size = TerminalSize::new(20, 3);
    Playback { recorded: size, client: size, speed, max_idle }
}

/// The delays in milliseconds, and what a terminal shows after each step.
fn played(events: &[(u64, &str)], playback: Playback) -> Vec<(u64, String)> {
    let events = events.iter().map(|(time, text)| Ok(RecordedEvent { time: ms(*time), what: output(text) }));
    let mut terminal = vt100::Parser::new(3.try_into().unwrap(), 20.try_into().unwrap(), 0);
    terminal.process(ClientView::enter());
    let steps = Player::new(events, playback).map(Result::unwrap);
    steps
        .map(|step| {
            terminal.process(&step.bytes);
            (millis(step.delay), terminal.screen().contents().trim_end().to_owned())
        })
        .collect()
}

fn steps(expected: &[(u64, &str)]) -> Vec<(u64, String)> {
    expected.iter().map(|(delay, text)| (*delay, (*text).to_owned())).collect()
}

#[test]
fn a_recording_plays_as_it_was() {
    let events = [(0, "a"), (1000, "b"), (1004, "c"), (1008, "d"), (5000, "e")];
    assert_eq!(
        played(&events, playback(1.0, None)),
        steps(&[(0, "a"), (1000, "ab"), (8, "abcd"), (3992, "abcde")])
    );
    assert_eq!(
        played(&events, playback(2.0, None)),
        steps(&[(0, "a"), (500, "ab"), (4, "abcd"), (1996, "abcde")])
    );
    let hurried = played(&events, playback(1.0, Some(ms(300))));
    assert_eq!(hurried, steps(&[(0, "a"), (300, "ab"), (8, "abcd"), (300, "abcde")]));
    for odd in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(played(&events, playback(odd, None)).len(), 4);
    }
}

#[test]
fn many_events_are_few_pictures() {
    let events: Vec<(u64, &str)> = (0..1000).map(|time| (time, "x")).collect();
    let steps = played(&events, playback(1.0, None));
    assert!((50..100).contains(&steps.len()), "{}", steps.len());
    let waited: u64 = steps.iter().map(|(delay, _)| delay).sum();
    assert_eq!(waited, 999);
    assert_eq!(played(&events, playback(1000.0, None)).len(), 1);
}

#[test]
fn a_hostile_recording_does_not_reach_the_terminal() {
    let attacks = "\x1b]52;c;ZXZpbA==\x07\x1b]0;title\x07\x1bP$qm\x1b\\\x05\x1b[c\x1b[21tsafe";
    let events = [Ok(RecordedEvent { time: ms(0), what: output(attacks) })];
    let bytes: Vec<u8> =
        Player::new(events.into_iter(), playback(1.0, None)).flat_map(|step| step.unwrap().bytes).collect();
    let shown = String::from_utf8(bytes).unwrap();
    assert!(shown.contains("safe"));
    for sequence in ["\x1b]", "\x1bP", "\x05", "\x1b[c", "\x1b[21t", "\x07"] {
        assert!(!shown.contains(sequence), "{shown:?}");
    }
}

#[test]
fn errors_come_after_what_was_played() {
    let events = [
        Ok(RecordedEvent { time: ms(0), what: output("shown") }),
        Err(io::Error::from(ErrorKind::InvalidData)),
    ];
    let mut player = Player::new(events.into_iter(), playback(1.0, None));
    assert!(String::from_utf8(player.next().unwrap().unwrap().bytes).unwrap().contains("shown"));
    assert!(player.next().unwrap().is_err());
    assert!(player.next().is_none());
}

#[test]
fn another_size_draws_everything_again() {
    let events = [
        Ok(RecordedEvent { time: ms(0), what: output("first") }),
        Ok(RecordedEvent { time: ms(1000), what: Recorded::Resize(TerminalSize::new(30, 4)) }),
        Ok(RecordedEvent { time: ms(2000), what: output(" second") }),
    ];
    let mut player = Player::new(events.into_iter(), playback(1.0, None));
    player.next().unwrap().unwrap();
    player.resize(TerminalSize::new(25, 4));
    let redrawn = String::from_utf8(player.next().unwrap().unwrap().bytes).unwrap();
    assert!(redrawn.contains("\x1b[2J") && redrawn.contains("first"), "{redrawn:?}");
}
