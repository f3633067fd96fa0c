//! Another emulator, vt100, as a judge where the two are meant to agree.
//!
//! It differs where the last column was just written, where a wide character is split, where the cursor is outside the lines
//! that scroll, in what it knows (modes, sets of characters, tabs), and for emoji that are made by a variation selector,
//! where it can panic. There ours does what xterm does, and the output here avoids that.

use std::num::NonZeroU16;

use proptest::prelude::*;

use super::*;

const COLUMNS: u16 = 11;
const ROWS: u16 = 6;

const NARROW: [&str; 6] = ["a", "abc", "e\u{301}", "0123456789abcdefghij", " ", "\u{200d}"];
const WIDE: [&str; 4] = ["漢", "漢字x", "漢\u{301}", "x漢字漢字漢字漢"];
const CONTROLS: [&str; 8] = [
    "\r",
    "\n",
    "\x08",
    "\x1b[2;2H\x1bM",
    "\x1b7",
    "\x1b8",
    "\x1b[?1049l\x1b[?1049h\x1b[H\x1b7",
    "\x1b[?1049l",
];

/// Text always ends with a position, so that no full line waits.
fn piece(words: &'static [&'static str], sequences: &str) -> impl Strategy<Value = String> + use<> {
    let position = (0_u16..9, 0_u16..14).prop_map(|(row, column)| format!("\x1b[{row};{column}H"));
    let text =
        (prop::sample::select(words), position).prop_map(|(word, position)| word.to_owned() + &position);
    let last = prop::sample::select(sequences.chars().collect::<Vec<_>>());
    let sequence = (0_u16..14, last).prop_map(|(number, last)| format!("\x1b[{number}{last}"));
    let control = prop::sample::select(&CONTROLS[..]).prop_map(str::to_owned);
    let scrolls =
        prop::sample::select(vec!["\n\n", "\x1bM\x1bM", "\x1b[2L", "\x1b[2M", "\x1b[2S", "\x1b[2T"]);
    let region = (1_u16..5, 1_u16..5, 0_u16..4, scrolls).prop_map(|(top, more, row, scrolls)| {
        format!("\x1b[{top};{}r\x1b[{};3H{scrolls}\x1b[r\x1b[H", top + more, top + row.min(more))
    });
    prop_oneof![4 => text, 4 => sequence, 2 => control, 1 => region]
}

fn compare(pieces: &[String]) {
    let size = |number| NonZeroU16::new(number).unwrap();
    let mut judge = vt100::Parser::new(size(ROWS), size(COLUMNS), 0);
    let mut ours = screen(COLUMNS, ROWS, "");
    for piece in pieces {
        judge.process(piece.as_bytes());
        let _ = ours.feed(piece.as_bytes());
        let theirs = judge.screen().rows(0, COLUMNS).map(|row| row.trim_end().to_owned());
        assert_eq!(ours.text(), theirs.collect::<Vec<_>>(), "after {piece:?}");
        let (row, column) = judge.screen().cursor_position();
        assert_eq!(cursor(&ours), (column.min(COLUMNS - 1), row), "after {piece:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn narrow_text(pieces in prop::collection::vec(piece(&NARROW, "@ABCDEFGHJKLMPSTX`d"), 0..60)) {
        compare(&pieces);
    }

    #[test]
    fn wide_text(pieces in prop::collection::vec(piece(&WIDE, "ABCDEFGHJKLMPSTX`d"), 0..60)) {
        compare(&pieces);
    }
}
