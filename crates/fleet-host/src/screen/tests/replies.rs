//! What programs get to know when they ask.

use super::*;

fn answer(output: &str) -> String {
    String::from_utf8(screen(20, 5, "").feed(output.as_bytes())).unwrap()
}

#[test]
fn questions_of_every_terminal() {
    assert_eq!(answer("\x1b[c"), "\x1b[?62;22c");
    assert_eq!(answer("\x1b[>c"), "\x1b[>1;1;0c");
    assert_eq!(answer("\x1b[5n"), "\x1b[0n");
    assert_eq!(answer("\x1b[3;7H\x1b[6n"), "\x1b[3;7R");
    assert_eq!(answer("\x1b[>q"), format!("\x1bP>|codefleet({})\x1b\\", env!("CARGO_PKG_VERSION")));
    assert_eq!(answer("\x1b]10;?\x07"), "\x1b]10;rgb:d4d4/d4d4/d4d4\x07");
    assert_eq!(answer("\x1b]11;?\x1b\\"), "\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\");
}

#[test]
fn questions_about_modes() {
    assert_eq!(answer("\x1b[?2004$p"), "\x1b[?2004;2$y");
    assert_eq!(answer("\x1b[?2004h\x1b[?2004$p"), "\x1b[?2004;1$y");
    assert_eq!(
        answer("\x1b[?7$p\x1b[?1049$p\x1b[?1003h\x1b[?1003$p"),
        "\x1b[?7;1$y\x1b[?1049;2$y\x1b[?1003;1$y"
    );
    assert_eq!(answer("\x1b[?4321$p"), "\x1b[?4321;0$y");
}

/// Titles, clipboards, reports of status (hooks tell more), answerback, the kitty keyboard (which attached terminals may not have), settings and the like.
#[test]
fn other_questions_have_no_answer() {
    for question in [
        "\x05",
        "\x1b[21t",
        "\x1b[18t",
        "\x1b[?u",
        "\x1b]52;c;?\x07",
        "\x1b]7501;?\x07",
        "\x1b]4;1;?\x07",
        "\x1bP$qm\x1b\\",
        "\x1bP+q544e\x1b\\",
        "\x1b[x",
        "\x1b[?6n",
        "\x1b[?15n",
        "\x1b]2;t\x07\x1b[20t",
        "\x1b_Gi=1,a=q;AAAA\x1b\\",
        "\x1b[1c",
        "\x1bZ",
    ] {
        assert_eq!(answer(question), "", "{question:?}");
    }
}

#[test]
fn a_flood_of_questions_has_few_answers() {
    assert!(answer(&"\x1b[c\x1b[>q".repeat(100_000)).len() < 2000);
    let mut patient = screen(20, 5, "");
    for _ in 0..100 {
        assert_eq!(patient.feed(b"\x1b[5n"), b"\x1b[0n", "each piece of output has answers again");
    }
}
