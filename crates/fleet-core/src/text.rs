//! Text from agents, users and files, made safe to show in a terminal.

use std::borrow::Cow;

/// Whether a character could move the cursor, change colours, or make text read differently from what it is.
pub fn is_unprintable(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{2028}' | '\u{2029}' | '\u{feff}')
        // Directional overrides and isolates: they reorder what is shown.
        || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}')
}

/// One line, every unprintable character written as an escape.
pub fn escaped(text: &str) -> Cow<'_, str> {
    escape_where(text, is_unprintable)
}

/// Several lines: as [`escaped`], but line feeds and tabs stay.
pub fn escaped_lines(text: &str) -> Cow<'_, str> {
    escape_where(text, |c| is_unprintable(c) && c != '\n' && c != '\t')
}

/// At most `most` bytes of a text, whole characters, with `…` in place of what is missing.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    const ELLIPSIS: &str = "…";
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let end = text.floor_char_boundary(most.saturating_sub(ELLIPSIS.len()));
    Cow::Owned(format!("{}{ELLIPSIS}", &text[..end]))
}

fn escape_where(text: &str, unprintable: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&unprintable) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if unprintable(character) {
            out.extend(character.escape_default());
        } else {
            out.push(character);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_tricks_become_visible() {
        assert_eq!(escaped("plain – ünïcode 漢字 👍"), "plain – ünïcode 漢字 👍");
        assert_eq!(escaped("\u{1b}[2Jgone\r\n"), r"\u{1b}[2Jgone\r\n");
        assert_eq!(escaped("a\u{202e}b\u{9b}c"), r"a\u{202e}b\u{9b}c");
        assert_eq!(escaped_lines("a\tb\n\u{7}c\u{2028}"), "a\tb\n\\u{7}c\\u{2028}");
    }

    #[test]
    fn long_texts_lose_their_end_and_never_half_a_character() {
        assert_eq!(shortened("漢字漢字", 12), "漢字漢字");
        assert_eq!(shortened("漢字漢字", 11), "漢字…");
        assert_eq!(shortened("漢字漢字", 8), "漢…");
        assert_eq!(shortened("漢字", 1), "…");
    }
}
