//! The agent's own name of a conversation.

use crate::text::is_unprintable;

/// Conversation ids are shorter; a longer text is not one.
const LONGEST_SESSION: usize = 256;

/// Whether a text can be the id of a conversation. It comes from what an agent printed, perhaps among the words of its
/// model, and is later an argument of that agent's program: one that begins as options do would be taken for one, and
/// could undo what the user allows.
pub fn is_session(id: &str) -> bool {
    let is_odd = |character: char| is_unprintable(character) || character.is_whitespace();
    (1..=LONGEST_SESSION).contains(&id.len()) && !id.starts_with('-') && !id.contains(is_odd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_no_id() {
        for id in ["0198c2e4-7b1c-7000-8000-1f2e3d4c5b6a", "ses_1", "/home/me/.agent/7", "a=b", "漢"] {
            assert!(is_session(id), "{id}");
        }
        let long = "x".repeat(LONGEST_SESSION + 1);
        for none in
            ["", "-", "--last", "--dangerously-skip-permissions", "a b", "a\nb", "\u{1b}[1m", "a\0", &long]
        {
            assert!(!is_session(none), "{none:?}");
        }
    }
}
