//! The sequences that may reach a person's terminal.

const MODES: [&str; 13] =
    ["1", "7", "9", "25", "1000", "1002", "1003", "1004", "1005", "1006", "1049", "2004", "2026"];

/// Panics at anything else than text, colours, positions, erasing and known modes.
pub(super) fn assert_harmless(bytes: &[u8]) {
    let mut rest = str::from_utf8(bytes).expect("only text");
    while let Some(character) = rest.chars().next() {
        if character == '\x1b' {
            rest = after_sequence(rest)
                .unwrap_or_else(|| panic!("not allowed: {:?}", rest.get(..20).unwrap_or(rest)));
        } else {
            assert!(is_text(character), "not text: {character:?}");
            rest = &rest[character.len_utf8()..];
        }
    }
}

fn is_text(character: char) -> bool {
    !character.is_control() && !matches!(character, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn after_sequence(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix("\x1b=").or(text.strip_prefix("\x1b>")) {
        return Some(rest);
    }
    let body = text.strip_prefix("\x1b[")?;
    let end = body.find(|character: char| character.is_ascii_alphabetic())?;
    let (numbers, rest) = (&body[..end], &body[end + 1..]);
    let allowed = match &body[end..=end] {
        "H" | "G" | "m" => numbers.bytes().all(|byte| byte.is_ascii_digit() || byte == b';'),
        "J" => numbers == "2",
        "K" => numbers.is_empty(),
        "h" | "l" => numbers.strip_prefix('?').is_some_and(|mode| MODES.contains(&mode)),
        "q" => matches!(numbers.as_bytes(), [b'0'..=b'6', b' ']),
        _ => false,
    };
    allowed.then_some(rest)
}
