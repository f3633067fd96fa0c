//! The marks around what is pasted into a terminal, as opposed to typed.

pub(super) const PASTE_START: &str = "\x1b[200~";
pub(super) const PASTE_END: &str = "\x1b[201~";
const LENGTH: usize = PASTE_START.len();

/// Finds the marks in what is typed, byte by byte.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PasteMarks {
    recent: [u8; LENGTH],
    is_pasting: bool,
}

impl PasteMarks {
    pub const fn new() -> Self {
        Self { recent: [0; LENGTH], is_pasting: false }
    }

    /// Takes the next byte. Whether it is inside a paste.
    pub fn push(&mut self, byte: u8) -> bool {
        self.recent.rotate_left(1);
        self.recent[LENGTH - 1] = byte;
        if self.recent == *PASTE_START.as_bytes() {
            self.is_pasting = true;
            return false;
        }
        if self.recent == *PASTE_END.as_bytes() {
            self.is_pasting = false;
        }
        self.is_pasting
    }

    pub const fn is_pasting(self) -> bool {
        self.is_pasting
    }
}
