//! Screens that become smaller and larger again.

use proptest::prelude::*;

use super::*;

fn resized(screen: &mut Screen, sizes: &[(u16, u16)]) -> Vec<String> {
    for (columns, rows) in sizes {
        screen.resize(TerminalSize::new(*columns, *rows));
    }
    screen.text()
}

const PICTURE: &str = "\x1b[1mone long line\r\n\x1b[0mtwo\r\n\x1b[7mthree\x1b[0m long\r\nfour";

#[test]
fn what_was_cut_off_comes_back() {
    let whole = ["one long line", "two", "three long", "four"];
    for sizes in [
        &[(5, 4), (20, 4)][..],
        &[(20, 1), (20, 4)],
        &[(2, 2), (20, 4)],
        &[(7, 3), (2, 1), (9, 2), (20, 4)],
        &[(80, 24), (1, 1), (20, 4)],
    ] {
        let mut changed = screen(20, 4, PICTURE);
        assert_eq!(resized(&mut changed, sizes), whole, "{sizes:?}");
        let colours = |screen: &Screen| {
            let rows = screen.emulator.grid().rows();
            [rows[0].cell(10), rows[2].cell(1), rows[2].cell(8)].map(|cell| cell.style)
        };
        assert_eq!(colours(&changed), colours(&screen(20, 4, PICTURE)), "{sizes:?}");
        assert_eq!(cursor(&changed).1, 3, "{sizes:?}");
        assert_eq!(changed.history(9), whole, "no line is there twice: {sizes:?}");
    }
    let mut small = screen(20, 4, PICTURE);
    assert_eq!(resized(&mut small, &[(5, 2)]), ["three", "four"]);
    assert_eq!(small.history(9), ["one long line", "two", "three", "four"]);
}

#[test]
fn lines_below_the_cursor_come_back_too() {
    let mut changed = screen(9, 4, "a\r\nb\r\nc\r\nd\x1b[1;1H");
    assert_eq!(resized(&mut changed, &[(9, 2)]), ["a", "b"]);
    assert_eq!(resized(&mut changed, &[(9, 5)]), ["a", "b", "c", "d", ""]);
}

#[test]
fn what_was_written_over_does_not_come_back() {
    let narrow = |output: &str| {
        let mut narrow = screen(20, 4, PICTURE);
        resized(&mut narrow, &[(5, 2)]);
        let _ = narrow.feed(output.as_bytes());
        resized(&mut narrow, &[(20, 4)])
    };
    assert_eq!(
        narrow("\x1b[1;1HTHREE"),
        ["one long line", "two", "THREE", "four"],
        "a line that was drawn again"
    );
    assert_eq!(narrow("\x1b[2J"), ["one long line", "two", "", ""], "a screen that was cleared");
    assert_eq!(narrow("\r\nfive"), ["four", "five", "", ""], "lines that have scrolled away");
    let mut cleared = screen(9, 4, "a\r\nb\r\nc\r\nd\x1b[1;1H");
    resized(&mut cleared, &[(9, 2)]);
    let _ = cleared.feed(b"\x1b[J");
    assert_eq!(resized(&mut cleared, &[(9, 4)]), [""; 4], "what is below was cleared, too");
}

#[test]
fn another_width_alone_moves_no_line() {
    let mut changed = screen(20, 4, PICTURE);
    resized(&mut changed, &[(20, 2)]);
    let _ = changed.feed(b"\x1b[H");
    assert_eq!(resized(&mut changed, &[(30, 2)]), ["three long", "four"]);
}

#[test]
fn a_full_screen_program_gets_its_lines_back() {
    let mut changed = screen(9, 3, "main\x1b[?1049h\x1b[HA\r\nB\r\nC");
    assert_eq!(resized(&mut changed, &[(9, 1)]), ["C"]);
    assert_eq!(resized(&mut changed, &[(9, 3)]), ["A", "B", "C"]);
    let _ = changed.feed(b"\x1b[?1049l");
    assert_eq!(changed.text(), ["main", "", ""]);
    assert_eq!(changed.history(9), ["main"]);
}

proptest! {
    /// Nothing that a program did not change is lost on the way to any sizes and back.
    #[test]
    fn every_way_back_shows_the_same(sizes in proptest::collection::vec((1_u16..40, 1_u16..12), 0..8)) {
        let before = screen(20, 4, PICTURE);
        let mut after = screen(20, 4, PICTURE);
        let way_back: Vec<(u16, u16)> = sizes.into_iter().chain([(20, 4)]).collect();
        prop_assert_eq!(resized(&mut after, &way_back), before.text());
        prop_assert_eq!(after.history(99), before.history(99));
    }
}
