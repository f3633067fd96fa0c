//! Whether a person has typed something into a terminal and not sent it.

use super::paste::PasteMarks;

/// What Ctrl-C and Ctrl-U do to an input: they empty it.
const EMPTYING: [u8; 2] = [0x03, 0x15];
const BACKSPACES: [u8; 2] = [0x08, 0x7f];
const ESCAPE: u8 = 0x1b;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Text,
    /// Behind an escape character.
    Escape,
    /// In a sequence, such as an arrow key or a movement of the mouse.
    Sequence,
}

/// Follows what is typed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Draft {
    place: Place,
    paste: PasteMarks,
    /// How many characters were typed since the input was sent or emptied.
    length: u64,
    sent: u64,
}

impl Draft {
    /// Nothing was typed yet.
    pub const fn new() -> Self {
        Self { place: Place::Text, paste: PasteMarks::new(), length: 0, sent: 0 }
    }

    /// Whether something was typed since the input was sent or emptied.
    pub const fn has_text(self) -> bool {
        self.length > 0
    }

    /// How often Enter was pressed.
    pub const fn sent(self) -> u64 {
        self.sent
    }

    /// What was typed went somewhere else, for instance into a dialog.
    pub const fn forget(&mut self) {
        self.length = 0;
    }

    /// Takes what was typed.
    pub fn push(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let is_pasted = self.paste.push(*byte);
            self.place = match (self.place, byte) {
                (_, &ESCAPE) => Place::Escape,
                (Place::Escape, b'[' | b'O') => Place::Sequence,
                (Place::Sequence, 0x40..=0x7e) | (Place::Escape, _) => Place::Text,
                (Place::Sequence, _) => Place::Sequence,
                (Place::Text, _) if is_pasted => {
                    self.length += 1;
                    Place::Text
                }
                (Place::Text, byte) => {
                    self.key(*byte);
                    Place::Text
                }
            };
        }
    }

    fn key(&mut self, byte: u8) {
        match byte {
            b'\r' => {
                self.length = 0;
                self.sent += 1;
            }
            byte if EMPTYING.contains(&byte) => self.length = 0,
            byte if BACKSPACES.contains(&byte) => self.length = self.length.saturating_sub(1),
            // The further bytes of a character are not characters of their own.
            b'\n' | b' '..=b'~' | 0xc0.. => self.length += 1,
            _ => {}
        }
    }
}
