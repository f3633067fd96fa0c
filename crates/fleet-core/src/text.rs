//! Text from agents, users and files, made safe to show in a terminal.

use std::borrow::Cow;

/// Whether a character could move the cursor, change colours, or make text read differently from what it is: control
/// characters, and all that take no room or reorder what is shown.
///
/// Three that Unicode calls invisible stay, because writing needs them: the joiners U+200C and U+200D (Persian, Indic
/// scripts, families of emoji) and the variation selectors that choose how an emoji or an ideograph looks.
pub fn is_unprintable(character: char) -> bool {
    character.is_control() || is_invisible(character)
}

/// The format characters (Cf), the separators of lines and paragraphs, and the letters that are drawn as nothing.
fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}'
            | '\u{8e2}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'
            | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}'
            | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            // Tags spell hidden ASCII; models read it, people do not.
            | '\u{e0000}'..='\u{e00ff}' | '\u{e01f0}'..='\u{e0fff}'
    )
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

/// The first line with words in it, with `…` if there is more: for tables.
pub fn first_line(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    match text.split_once('\n') {
        Some((first, _)) => Cow::Owned(format!("{} …", first.trim_end())),
        None => Cow::Borrowed(text),
    }
}

/// Cuts a text in place, as [`shortened`] does.
pub fn shorten(text: &mut String, most: usize) {
    if text.len() > most {
        *text = shortened(text, most).into_owned();
    }
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
    fn the_first_line_says_that_there_is_more() {
        assert_eq!(first_line("one\n"), "one");
        assert_eq!(first_line("\n one \r\ntwo"), "one …");
    }

    #[test]
    fn terminal_tricks_become_visible() {
        assert_eq!(escaped("plain – ünïcode 漢字 👍"), "plain – ünïcode 漢字 👍");
        assert_eq!(escaped("\u{1b}[2Jgone\r\n"), r"\u{1b}[2Jgone\r\n");
        assert_eq!(escaped("a\u{202e}b\u{9b}c"), r"a\u{202e}b\u{9b}c");
        assert_eq!(escaped_lines("a\tb\n\u{7}c\u{2028}"), "a\tb\n\\u{7}c\\u{2028}");
    }

    #[test]
    fn what_cannot_be_seen_becomes_visible() {
        for hidden in
            ['\u{200b}', '\u{2060}', '\u{ad}', '\u{180e}', '\u{3164}', '\u{e0041}', '\u{feff}', '\u{2066}']
        {
            let text = format!("rm{hidden} -rf");
            assert_eq!(escaped(&text), format!("rm{} -rf", hidden.escape_default()), "{hidden:?}");
            assert_eq!(escaped_lines(&text), escaped(&text));
        }
        for needed in ["می\u{200c}خواهم", "👩\u{200d}👩\u{200d}👧", "❤\u{fe0f}"] {
            assert_eq!(escaped(needed), needed, "writing needs this");
        }
    }

    #[test]
    fn long_texts_lose_their_end_and_never_half_a_character() {
        assert_eq!(shortened("漢字漢字", 12), "漢字漢字");
        assert_eq!(shortened("漢字漢字", 11), "漢字…");
        assert_eq!(shortened("漢字漢字", 8), "漢…");
        assert_eq!(shortened("漢字", 1), "…");
    }
}
