//! Programs that want to reach the terminal of a person, or all of the memory.

use proptest::prelude::*;

use super::allowed::assert_harmless;
use super::output::{ATTACKS, hostile_piece};
use super::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn nothing_is_passed_on(pieces in prop::collection::vec(hostile_piece(), 0..40)) {
        let mut screen = screen(20, 6, "");
        let mut view = ClientView::new(TerminalSize::new(15, 7));
        for piece in pieces {
            let answers = screen.feed(&piece);
            prop_assert!(answers.len() < 2000);
            assert_harmless(&view.update(&screen));
        }
    }
}

#[test]
fn no_attack_is_passed_on_by_any_split() {
    for attack in ATTACKS {
        for split in 0..=attack.len() {
            let mut screen = screen(40, 3, "");
            let mut view = ClientView::new(TerminalSize::new(40, 3));
            let (first, second) = attack.as_bytes().split_at(split);
            let _ = screen.feed(first);
            assert_harmless(&view.update(&screen));
            let _ = screen.feed(second);
            let _ = screen.feed(b"\x1b\\after");
            assert_harmless(&view.update(&screen));
        }
    }
}

#[test]
fn the_rest_of_the_output_is_shown() {
    for attack in ATTACKS {
        let shown = screen(80, 3, &format!("before{attack}\x18\x1b\\\x1b[0m\r\nafter")).history(9).join("\n");
        assert!(shown.contains("after"), "{attack:?}: {shown}");
    }
}
