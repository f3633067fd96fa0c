//! The character set of lines and corners that programs without Unicode draw with.

/// The characters of a DEC terminal from `` ` `` to `~`.
const GRAPHICS: [char; 31] = [
    '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼', '⎺', '⎻', '─', '⎼', '⎽', '├',
    '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
];

/// Two sets, of which one is in use.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Charsets {
    /// Which of the two are graphics.
    graphics: [bool; 2],
    second_in_use: bool,
}

impl Charsets {
    /// `ESC ( 0` and the like: `slot` is the byte between.
    pub(super) fn designate(&mut self, slot: u8, set: u8) {
        match slot {
            b'(' => self.graphics[0] = set == b'0',
            b')' => self.graphics[1] = set == b'0',
            _ => {}
        }
    }

    pub(super) fn use_second(&mut self, second: bool) {
        self.second_in_use = second;
    }

    pub(super) fn shown(self, character: char) -> char {
        if !self.graphics[usize::from(self.second_in_use)] {
            return character;
        }
        let place =
            u32::from(character).checked_sub(u32::from('`')).and_then(|place| usize::try_from(place).ok());
        place.and_then(|place| GRAPHICS.get(place)).copied().unwrap_or(character)
    }
}
