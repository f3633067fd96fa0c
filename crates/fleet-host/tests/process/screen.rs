//! A terminal whose program wants all of the memory.

use std::fs;
use std::path::Path;

use fleet_host::TerminalSize;
use fleet_host::screen::{ClientView, Screen};

use crate::actor::{Actor, Part, announce};

const SIZE: (u16, u16) = (200, 50);
const CHUNK: usize = 64 * 1024;

/// How often a chunk comes that begins with the first text and repeats the second one.
const FLOODS: [(&str, &str, usize); 9] = [
    ("\x1b]52;c;", "QUFB", 1600),
    ("\x1bPq", "#0~~@@vv@@~~$-", 200),
    ("\x1b_G", "AAAA", 200),
    ("a", "\u{301}", 20),
    ("", "0123456789", 20),
    ("", "a\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}", 20),
    ("", "漢👩\u{200d}👧\x1b[38;2;1;2;3m\x1b[48;2;4;5;6m", 20),
    ("", "\x1b[999999999;999999999H\x1b[65535S\x1b[65535L\x1b[65535@\x1b[8;65535;65535t\x1b[65535;65535r", 4),
    ("x", "\x1b[65535b\x1b[?1049h\x1b7\x1b[6n\x1b[c\x1b[>q\x1b[?1049l", 2),
];

/// Notes the memory before, and after each flood.
pub(crate) fn play(folder: &Path) {
    let mut screen = Screen::new(TerminalSize::new(SIZE.0, SIZE.1));
    let mut views = [(); 4].map(|()| ClientView::new(TerminalSize::new(SIZE.0, SIZE.1)));
    let mut memory = vec![resident()];
    for (first, repeated, times) in FLOODS {
        let chunk = repeated.repeat(CHUNK / repeated.len());
        let _ = screen.feed(first.as_bytes());
        for _ in 0..times {
            assert!(screen.feed(chunk.as_bytes()).len() < 2000);
        }
        for view in &mut views {
            let _ = view.update(&screen);
        }
        memory.push(resident());
        let _ = screen.feed(b"\x1b\\");
    }
    announce(&folder.join("memory"), &serde_json::to_string(&memory).unwrap());
}

/// In KiB; zero where the system does not tell.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.map_or(0, |value| value.trim().trim_end_matches(" kB").parse().unwrap())
}

#[test]
fn memory_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    Actor::start(&Part::Screen { folder: folder.path().to_owned() }).succeed();
    let memory: Vec<u64> =
        serde_json::from_str(&fs::read_to_string(folder.path().join("memory")).unwrap()).unwrap();
    assert_eq!(memory.len(), FLOODS.len() + 1);
    let most = memory.iter().max().unwrap() - memory[0];
    assert!(most < 6 * 1024, "{memory:?} KiB");
}
