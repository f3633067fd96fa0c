//! Colours that agents print even without a terminal.

use std::borrow::Cow;

/// The text without the escape sequences that set colours and move the cursor.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        out.push_str(&rest[..at]);
        rest = after_sequence(&rest[at + 1..]);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// What follows a sequence whose escape character was read: `[` up to a letter, else one character.
fn after_sequence(text: &str) -> &str {
    let Some(body) = text.strip_prefix('[') else {
        let mut characters = text.chars();
        characters.next();
        return characters.as_str();
    };
    let end = body.find(|c: char| ('\u{40}'..='\u{7e}').contains(&c));
    end.map_or("", |end| &body[end + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_go_and_words_stay() {
        assert_eq!(plain("\u{1b}[91m\u{1b}[1mError: \u{1b}[0mSession not found"), "Error: Session not found");
        assert_eq!(plain("no colour"), "no colour");
        assert_eq!(plain("a\u{1b}"), "a");
        assert_eq!(plain("a\u{1b}[1;"), "a");
        assert_eq!(plain("\u{1b}é漢"), "漢");
    }
}
