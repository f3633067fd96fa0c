//! Random output of programs: from well-behaved to hostile.

use proptest::prelude::*;

const WORDS: [&str; 19] = [
    "a",
    "hello world",
    "x y  z",
    "漢",
    "字漢字",
    "e\u{301}",
    "\u{301}",
    "👩",
    "👩\u{200d}👧",
    "\u{26a0}\u{fe0f}",
    "1\u{fe0f}\u{20e3}",
    "\u{fe0f}",
    "│",
    "\u{ad}",
    "\u{1100}\u{1160}",
    "0123456789012345678901234567890123456789",
    "\u{202e}",
    "é",
    "  ",
];

const CONTROLS: [&str; 24] = [
    "\r",
    "\n",
    "\r\n",
    "\t",
    "\x08",
    "\x0b",
    "\x1b7",
    "\x1b8",
    "\x1bM",
    "\x1bD",
    "\x1bE",
    "\x1bc",
    "\x1b[?1049h",
    "\x1b[?1049l",
    "\x1b[?47h",
    "\x1b[?47l",
    "\x1b[?6h",
    "\x1b[?6l",
    "\x1b[4h",
    "\x1b[4l",
    "\x1b[!p",
    "\x1b(0",
    "\x1b(B",
    "\x1b[?7l\x1b[?7h",
];

const MODES: [u16; 14] = [1, 7, 9, 12, 25, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 2004, 2026];

/// What would reach out of a terminal, if it was passed on.
pub(super) const ATTACKS: [&str; 22] = [
    "\x1b]52;c;ZXZpbA==\x07",
    "\x1b]0;title\x07",
    "\x1b]2;title\x1b\\",
    "\x1b]8;;http://evil\x07link\x1b]8;;\x07",
    "\x1b]1337;File=inline=1:AAAA\x07",
    "\x1b]777;notify;a;b\x07",
    "\x1b]9;hi\x07",
    "\x1bP$qm\x1b\\",
    "\x1bP+q544e\x1b\\",
    "\x1bPq#0;2;0;0;0~~\x1b\\",
    "\x1b_Ga=T;AAAA\x1b\\",
    "\x1b^secret\x1b\\",
    "\x1bXstart\x1b\\",
    "\x05",
    "\x1b[21t",
    "\x1b[5i",
    "\x1b[c\x1b[>q\x1b[6n",
    "\x1b\x1b[\x1b]\x1b\x1b[31",
    "\u{9b}31m",
    "\u{9d}52;c;ZQ==\u{9c}",
    "\x1b[>4;2m\x1b[>1u\x1b[=5u",
    "\x1b]50;font\x07\x1b[?5h\x1b[?3h\x1b#8",
];

fn sequence() -> impl Strategy<Value = String> {
    let number = prop_oneof![4 => (0_u16..14).prop_map(|n| n.to_string()), 1 => Just(String::new()),
        1 => prop_oneof![Just("65535"), Just("99999999999"), Just("255")].prop_map(str::to_owned)];
    let last = prop::sample::select("@ABCDEFGHIJKLMPSTXZ`abdefrsu".chars().collect::<Vec<_>>());
    (prop::collection::vec(number, 0..3), last)
        .prop_map(|(numbers, last)| format!("\x1b[{}{last}", numbers.join(";")))
}

fn style() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        prop::sample::select(vec!["0", "1", "2", "3", "4", "7", "22", "27", "9", "8", "5", "4:3", "21"])
            .prop_map(str::to_owned),
        (30_u16..50).prop_map(|n| n.to_string()),
        any::<(u8, u8, u8)>().prop_map(|(red, green, blue)| format!("38;2;{red};{green};{blue}")),
        any::<u8>().prop_map(|index| format!("48;5;{index}")),
    ];
    prop::collection::vec(part, 0..3).prop_map(|parts| format!("\x1b[{}m", parts.join(";")))
}

/// A piece of output that means something.
pub(super) fn piece() -> impl Strategy<Value = Vec<u8>> {
    let mode = (prop::sample::select(MODES.to_vec()), any::<bool>())
        .prop_map(|(mode, on)| format!("\x1b[?{mode}{}", if on { 'h' } else { 'l' }));
    let shape = (0_u16..9).prop_map(|shape| format!("\x1b[{shape} q"));
    prop_oneof![
        6 => prop::sample::select(WORDS.to_vec()).prop_map(str::to_owned),
        4 => sequence(),
        3 => style(),
        2 => prop::sample::select(CONTROLS.to_vec()).prop_map(str::to_owned),
        2 => mode,
        1 => shape,
        1 => prop::sample::select(ATTACKS.to_vec()).prop_map(str::to_owned),
    ]
    .prop_map(String::into_bytes)
}

/// Anything at all.
pub(super) fn hostile_piece() -> impl Strategy<Value = Vec<u8>> {
    let bytes = prop::collection::vec(any::<u8>(), 0..40);
    let escapes = prop::collection::vec(
        prop::sample::select(b"\x1b\x1b[[]]P_^X;:?>=$!01259hlmqtcunpHJK\x07\x18\x9b\x90\\a ".to_vec()),
        0..40,
    );
    prop_oneof![
        piece(),
        bytes,
        escapes,
        prop::sample::select(ATTACKS.to_vec()).prop_map(|attack| attack.as_bytes().to_vec())
    ]
}
