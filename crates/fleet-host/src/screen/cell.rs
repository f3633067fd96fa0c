//! One character position, and how it looks.

use unicode_width::UnicodeWidthStr as _;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Colour {
    #[default]
    Default,
    Indexed(u8),
    Rgb(u8, u8, u8),
}

/// Bold, italic and the like: a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Attributes(u8);

impl Attributes {
    pub const BOLD: Self = Self(1);
    pub const DIM: Self = Self(1 << 1);
    pub const ITALIC: Self = Self(1 << 2);
    pub const UNDERLINE: Self = Self(1 << 3);
    pub const BLINK: Self = Self(1 << 4);
    pub const INVERSE: Self = Self(1 << 5);
    pub const HIDDEN: Self = Self(1 << 6);
    pub const STRUCK: Self = Self(1 << 7);

    /// Each with the number that sets it in a terminal.
    pub(super) const CODES: [(Self, u16); 8] = [
        (Self::BOLD, 1),
        (Self::DIM, 2),
        (Self::ITALIC, 3),
        (Self::UNDERLINE, 4),
        (Self::BLINK, 5),
        (Self::INVERSE, 7),
        (Self::HIDDEN, 8),
        (Self::STRUCK, 9),
    ];

    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    pub(super) fn insert(&mut self, other: Self) {
        self.0 |= other.0;
    }

    pub(super) fn remove(&mut self, other: Self) {
        self.0 &= !other.0;
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Style {
    pub foreground: Colour,
    pub background: Colour,
    pub attributes: Attributes,
}

impl Style {
    /// What erased cells look like: terminals erase with the background alone.
    pub(super) fn erased(self) -> Self {
        Self { background: self.background, ..Self::default() }
    }
}

/// How many columns the character of a cell has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum CellWidth {
    #[default]
    Narrow,
    /// The cell after it is its second half.
    Wide,
    SecondHalf,
}

/// A character takes at most four bytes; what combines with it beyond this is left out.
const TEXT_BYTES: usize = 14;

/// What turns the character before it into an emoji.
const EMOJI_VARIATION: char = '\u{fe0f}';

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Cell {
    bytes: [u8; TEXT_BYTES],
    length: u8,
    pub(super) width: CellWidth,
    pub(super) style: Style,
}

impl Cell {
    pub(super) fn blank(style: Style) -> Self {
        Self { style, ..Self::default() }
    }

    pub(super) fn new(character: char, width: CellWidth, style: Style) -> Self {
        let mut cell = Self::blank(style).with_width(width);
        cell.push(character);
        cell
    }

    pub(super) fn with_width(self, width: CellWidth) -> Self {
        Self { width, ..self }
    }

    /// The cell with a combining character, if there is room for it. A blank combines as a space. A character that becomes
    /// an emoji becomes wide.
    pub(super) fn combined_with(mut self, character: char) -> Self {
        if self.length == 0 {
            self.push(' ');
        }
        self.push(character);
        let becomes_wide =
            character == EMOJI_VARIATION && self.width == CellWidth::Narrow && self.text().width() > 1;
        if becomes_wide { self.with_width(CellWidth::Wide) } else { self }
    }

    fn push(&mut self, character: char) {
        let start = usize::from(self.length);
        if let Some(room) = self.bytes.get_mut(start..start + character.len_utf8()) {
            character.encode_utf8(room);
            self.length += u8::try_from(room.len()).unwrap_or(0);
        }
    }

    /// Empty when the cell is blank.
    pub(super) fn text(&self) -> &str {
        let text = self.bytes.get(..usize::from(self.length)).unwrap_or_default();
        str::from_utf8(text).unwrap_or_default()
    }
}
