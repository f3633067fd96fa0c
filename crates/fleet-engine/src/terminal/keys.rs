//! The key with which a person leaves an agent's terminal.

use std::fmt;
use std::str::FromStr;

use fleet_core::typing::PasteMarks;

/// A key that is pressed together with Ctrl.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DetachKey(u8);

impl FromStr for DetachKey {
    type Err = String;

    /// Reads `ctrl-]`, `ctrl-a` and the like.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` is not a key to detach with: write `ctrl-` and a letter, or one of `\\` `]` `^` `_`"
            )
        };
        let lower = text.to_ascii_lowercase();
        let key = lower.strip_prefix("ctrl-").filter(|key| key.len() == 1).ok_or_else(wrong)?;
        let byte = key.as_bytes().first().map(u8::to_ascii_uppercase).ok_or_else(wrong)?;
        // Ctrl-C, Ctrl-M (Enter), Ctrl-I (Tab) and Ctrl-[ (Escape) are for the agent.
        let is_taken = matches!(byte, b'C' | b'M' | b'I' | b'J' | b'H' | b'[');
        match byte {
            b'A'..=b'Z' | b'\\'..=b'_' if !is_taken => Ok(Self(byte & 0x1f)),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for DetachKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ctrl-{}", char::from(self.0 | 0x40))
    }
}

/// Finds the key among what a person types. In a paste it is text.
#[derive(Debug)]
pub(super) struct KeyFilter {
    detach: DetachKey,
    paste: PasteMarks,
}

impl KeyFilter {
    pub(super) const fn new(detach: DetachKey) -> Self {
        Self { detach, paste: PasteMarks::new() }
    }

    /// What is for the agent, and whether the person leaves after that.
    pub(super) fn take(&mut self, keys: &[u8]) -> (Vec<u8>, bool) {
        for (index, key) in keys.iter().enumerate() {
            if *key == self.detach.0 && !self.paste.is_pasting() {
                return (keys[..index].to_vec(), true);
            }
            self.paste.push(*key);
        }
        (keys.to_vec(), false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_and_shown() {
        for (text, shown) in [("ctrl-]", "Ctrl-]"), ("Ctrl-a", "Ctrl-A"), ("ctrl-\\", "Ctrl-\\")] {
            assert_eq!(text.parse::<DetachKey>().unwrap().to_string(), shown);
        }
        for wrong in ["", "]", "ctrl-", "ctrl-c", "ctrl-m", "ctrl-[", "ctrl-ab", "alt-x", "ctrl-1"] {
            assert!(wrong.parse::<DetachKey>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_key_is_found_unless_it_is_pasted() {
        let filter = || KeyFilter::new("ctrl-]".parse().unwrap());
        assert_eq!(filter().take(b"ab\x1dcd"), (b"ab".to_vec(), true));
        assert_eq!(filter().take(b"abcd"), (b"abcd".to_vec(), false));
        let mut pasting = filter();
        assert_eq!(pasting.take(b"x\x1b[20"), (b"x\x1b[20".to_vec(), false));
        assert!(!pasting.take(b"0~in\x1dside").1);
        assert!(!pasting.take(b"\x1b[201~").1);
        assert_eq!(pasting.take(b"\x1d"), (Vec::new(), true));
    }
}
