//! What sequences do to a screen, one by one.

use super::*;

fn text(columns: u16, rows: u16, output: &str) -> Vec<String> {
    screen(columns, rows, output).text()
}

#[test]
fn lines_wrap_and_scroll() {
    assert_eq!(
        text(5, 3, "hello world\r\nnext"),
        ["world"[..0].to_owned() + " worl", "d".into(), "next".into()]
    );
    let scrolled = screen(5, 2, "1\r\n2\r\n3\r\n4");
    assert_eq!(scrolled.text(), ["3", "4"]);
    assert_eq!(scrolled.history(100), ["1", "2", "3", "4"]);
    assert_eq!(scrolled.history(3), ["2", "3", "4"]);
    assert_eq!(scrolled.history(1), ["4"]);
}

#[test]
fn a_full_line_waits_with_its_wrap() {
    let full = screen(5, 2, "12345");
    assert_eq!(cursor(&full), (4, 0));
    assert_eq!(text(5, 2, "12345\r\nx"), ["12345", "x"]);
    assert_eq!(text(5, 2, "12345\x1b[K"), ["1234", ""]);
    assert_eq!(text(5, 2, "\x1b[?7l12345678"), ["12348", ""]);
}

#[test]
fn wide_characters_are_whole_or_not_there() {
    assert_eq!(text(5, 2, "漢字漢"), ["漢字", "漢"]);
    assert_eq!(text(6, 1, "漢字\x1b[2Gx"), [" x字"]);
    assert_eq!(text(6, 1, "漢字\x1b[3Gx"), ["漢x"]);
    assert_eq!(text(6, 1, "漢字\x1b[2G\x1b[P"), [" 字"]);
    assert_eq!(text(6, 1, "漢字x\x1b[2G\x1b[@"), ["   字x"]);
    let mut cut = screen(6, 1, "漢字");
    cut.resize(TerminalSize::new(3, 1));
    assert_eq!(cut.text(), ["漢"]);
    cut.resize(TerminalSize::new(6, 1));
    assert_eq!(cut.text(), ["漢字"]);
}

#[test]
fn combining_characters_and_emoji() {
    assert_eq!(text(6, 1, "e\u{301}x"), ["e\u{301}x"]);
    let emoji = screen(6, 1, "\u{26a0}\u{fe0f}!");
    assert_eq!(emoji.text(), ["\u{26a0}\u{fe0f}!"]);
    assert_eq!(cursor(&emoji), (3, 0), "the emoji is wide");
    assert_eq!(text(2, 1, "x\u{26a0}\u{fe0f}"), ["x\u{26a0}"], "there is no room for a second half");
    let flooded = text(6, 1, &("a".to_owned() + &"\u{301}".repeat(1000)));
    assert!(flooded[0].len() < 20);
    assert_eq!(
        text(9, 1, "a\u{202e}b\u{2066}c\u{200b}d"),
        ["abc\u{200b}d"],
        "nothing changes the order of text"
    );
}

#[test]
fn scroll_regions_keep_the_rest() {
    assert_eq!(text(5, 4, "a\r\nb\r\nc\r\nd\x1b[2;3r\x1b[3;1H\n"), ["a", "c", "", "d"]);
    assert_eq!(text(5, 4, "a\r\nb\r\nc\r\nd\x1b[2;3r\x1b[2;1H\x1bM"), ["a", "", "b", "d"]);
    assert_eq!(text(5, 4, "a\r\nb\r\nc\r\nd\x1b[2;3r\x1b[2H\x1b[M"), ["a", "c", "", "d"]);
    assert_eq!(text(5, 4, "a\r\nb\r\nc\r\nd\x1b[2H\x1b[L"), ["a", "", "b", "c"]);
    let above = screen(5, 4, "a\r\nb\r\nc\r\nd\x1b[1;3r\x1b[3;1H\n");
    assert_eq!(above.text(), ["b", "c", "", "d"]);
    assert_eq!(above.history(9), ["a", "b", "c", "", "d"], "lines that leave at the top are kept");
    assert_eq!(text(5, 4, "\x1b[2;3r\x1b[?6h\x1b[9;1Hx"), ["", "", "x", ""]);
}

#[test]
fn the_alternate_screen_is_apart() {
    let mut both = screen(5, 2, "main\x1b[?1049h\x1b[Hmenu\r\n1\r\n2\r\n3");
    assert!(both.modes().alternate_screen);
    assert_eq!(both.text(), ["2", "3"]);
    let _ = both.feed(b"\x1b[?1049l");
    assert_eq!(both.text(), ["main", ""]);
    assert_eq!(cursor(&both), (4, 0));
    assert_eq!(both.history(9), ["main"], "it has no history");
}

#[test]
fn saved_cursors() {
    for (save, restore) in [("\x1b7", "\x1b8"), ("\x1b[s", "\x1b[u"), ("\x1b[?1048h", "\x1b[?1048l")] {
        assert_eq!(text(5, 2, &format!("ab{save}\x1b[2;4Hx{restore}c")), ["abc", "   x"]);
    }
}

#[test]
fn lines_and_corners() {
    assert_eq!(text(5, 1, "\x1b(0lqk\x1b(Bq"), ["┌─┐q"]);
    assert_eq!(text(5, 1, "\x1b)0\x0ex\x0fx"), ["│x"]);
}

#[test]
fn tabs_insertion_and_repetition() {
    assert_eq!(text(20, 1, "a\tb\x1b[Zc"), ["a       c"]);
    assert_eq!(text(9, 1, "abc\x1b[H\x1b[4hX\x1b[4lY"), ["XYbc"]);
    assert_eq!(text(9, 1, "-\x1b[3b"), ["----"]);
    assert_eq!(text(9, 2, "-\x1b[65535b"), ["---------", "-"], "at most a line of them");
}

#[test]
fn styles_in_all_spellings() {
    let style = |output: &str| screen(5, 1, output).emulator.style;
    let red = Style { foreground: Colour::Rgb(1, 2, 3), ..Style::default() };
    for spelling in ["38;2;1;2;3", "38:2:1:2:3", "38:2::1:2:3", "4;38;2;1;2;3;24", "58;2;9;9;9;38;2;1;2;3"] {
        assert_eq!(style(&format!("\x1b[{spelling}m")), red, "{spelling}");
    }
    assert_eq!(style("\x1b[38;5;200;48:5:7m").background, Colour::Indexed(7));
    assert_eq!(style("\x1b[95m").foreground, Colour::Indexed(13));
    assert!(style("\x1b[4:3m").attributes.contains(Attributes::UNDERLINE));
    assert_eq!(style("\x1b[1;2;3;4;5;7;8;9;22;23;24;25;27;28;29m"), Style::default());
    assert_eq!(style("\x1b[1;38;5m").attributes, Attributes::BOLD, "what is cut off counts for nothing");
}

#[test]
fn a_smaller_screen_keeps_the_line_of_the_cursor() {
    let mut shrunk = screen(5, 4, "1\r\n2\r\n3\r\n4");
    shrunk.resize(TerminalSize::new(5, 2));
    assert_eq!(shrunk.text(), ["3", "4"]);
    assert_eq!(shrunk.history(9), ["1", "2", "3", "4"]);
    shrunk.resize(TerminalSize::new(5, 3));
    assert_eq!(shrunk.text(), ["2", "3", "4"]);
    assert_eq!((cursor(&shrunk), shrunk.history(9).len()), ((1, 2), 4));
}

#[test]
fn history_is_bounded_and_can_be_cleared() {
    let mut long = screen(20, 2, "");
    for number in 0..5000 {
        let _ = long.feed(format!("{number}\r\n").as_bytes());
    }
    assert_eq!(long.history(usize::MAX).len(), 1001);
    assert_eq!(long.history(2), ["4998", "4999"]);
    let _ = long.feed(b"\x1b[H\x1b[2J\x1b[3J");
    assert_eq!(long.history(9), [""; 0]);
}

#[test]
fn resets() {
    let soft = screen(5, 2, "\x1b[1m\x1b[?25l\x1b[?1h\x1b[2;2r\x1b[!p");
    assert_eq!((soft.modes(), soft.emulator.style), (Modes::default(), Style::default()));
    let full = screen(5, 2, "a\x1b[?1049h\x1b[?2004h\x1b[3mb\x1bc");
    assert_eq!((full.modes(), full.emulator.style), (Modes::default(), Style::default()));
    assert_eq!(full.text(), ["", ""]);
}

#[test]
fn modes_are_known() {
    let asked = screen(9, 1, "\x1b[?1;1002;1006;1004;2004;2026h\x1b=\x1b[5 q\x1b[?25l").modes();
    let expected = Modes {
        application_cursor: true,
        application_keypad: true,
        mouse: MouseReports::Drags,
        mouse_encoding: MouseEncoding::Sgr,
        focus_reports: true,
        bracketed_paste: true,
        cursor_visible: false,
        cursor_shape: CursorShape::BlinkingBar,
        alternate_screen: false,
        synchronized: true,
    };
    assert_eq!(asked, expected);
}

#[test]
fn the_generation_changes_with_what_is_shown() {
    let mut counted = screen(9, 2, "");
    let first = counted.generation();
    let _ = counted.feed(b"");
    counted.resize(TerminalSize::new(9, 2));
    assert_eq!(counted.generation(), first);
    let _ = counted.feed(b"x");
    let second = counted.generation();
    assert_ne!(second, first);
    counted.resize(TerminalSize::new(9, 3));
    assert_ne!(counted.generation(), second);
}
