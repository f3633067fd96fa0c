//! What a program has asked its terminal for.

/// What a person's terminal has to know about: what it sends for keys, the mouse and pasted text, and its cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the terminal, with its own number")]
pub struct Modes {
    /// Cursor keys send what applications expect (`?1`).
    pub application_cursor: bool,
    /// The keypad sends what applications expect (`ESC =`).
    pub application_keypad: bool,
    pub mouse: MouseReports,
    pub mouse_encoding: MouseEncoding,
    /// The terminal reports when it gets and loses the focus (`?1004`).
    pub focus_reports: bool,
    /// Pasted text comes in brackets (`?2004`).
    pub bracketed_paste: bool,
    pub cursor_visible: bool,
    pub cursor_shape: CursorShape,
    pub alternate_screen: bool,
    /// The program is in the middle of an update, and asks not to show it yet (`?2026`). It may never finish it.
    pub synchronized: bool,
}

impl Default for Modes {
    fn default() -> Self {
        Self {
            application_cursor: false,
            application_keypad: false,
            mouse: MouseReports::None,
            mouse_encoding: MouseEncoding::Bytes,
            focus_reports: false,
            bracketed_paste: false,
            cursor_visible: true,
            cursor_shape: CursorShape::Default,
            alternate_screen: false,
            synchronized: false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MouseReports {
    #[default]
    None,
    /// Buttons as they are pressed (`?9`).
    Press,
    /// Buttons as they are pressed and released (`?1000`).
    Buttons,
    /// Also the movement while a button is pressed (`?1002`).
    Drags,
    /// Also any other movement (`?1003`).
    Motion,
}

impl MouseReports {
    pub(super) const NUMBERS: [(Self, u16); 4] =
        [(Self::Press, 9), (Self::Buttons, 1000), (Self::Drags, 1002), (Self::Motion, 1003)];
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MouseEncoding {
    #[default]
    Bytes,
    /// `?1005`
    Utf8,
    /// `?1006`
    Sgr,
}

impl MouseEncoding {
    pub(super) const NUMBERS: [(Self, u16); 2] = [(Self::Utf8, 1005), (Self::Sgr, 1006)];
}

/// By their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CursorShape {
    #[default]
    Default,
    BlinkingBlock,
    Block,
    BlinkingUnderline,
    Underline,
    BlinkingBar,
    Bar,
}

impl CursorShape {
    const BY_NUMBER: [Self; 7] = [
        Self::Default,
        Self::BlinkingBlock,
        Self::Block,
        Self::BlinkingUnderline,
        Self::Underline,
        Self::BlinkingBar,
        Self::Bar,
    ];

    pub(super) fn from_number(number: u16) -> Option<Self> {
        Self::BY_NUMBER.get(usize::from(number)).copied()
    }

    pub(super) fn number(self) -> u16 {
        self as u16
    }
}

impl Modes {
    /// Sets or resets one that is only a switch. False if there is no such mode here.
    pub(super) fn switch(&mut self, number: u16, on: bool) -> bool {
        let mouse = MouseReports::NUMBERS.iter().find(|(_, known)| *known == number);
        let encoding = MouseEncoding::NUMBERS.iter().find(|(_, known)| *known == number);
        match number {
            1 => self.application_cursor = on,
            25 => self.cursor_visible = on,
            1004 => self.focus_reports = on,
            2004 => self.bracketed_paste = on,
            2026 => self.synchronized = on,
            _ => match (mouse, encoding) {
                (Some((reports, _)), _) => self.mouse = if on { *reports } else { MouseReports::None },
                (_, Some((encoding, _))) => {
                    self.mouse_encoding = if on { *encoding } else { MouseEncoding::Bytes };
                }
                (None, None) => return false,
            },
        }
        true
    }

    /// Whether one of the modes is set. `None` for those that are unknown.
    pub(super) fn is_set(&self, number: u16) -> Option<bool> {
        match number {
            1 => Some(self.application_cursor),
            25 => Some(self.cursor_visible),
            47 | 1047 | 1049 => Some(self.alternate_screen),
            1004 => Some(self.focus_reports),
            2004 => Some(self.bracketed_paste),
            2026 => Some(self.synchronized),
            _ => {
                let mouse = MouseReports::NUMBERS.iter().find(|(_, known)| *known == number);
                let encoding = MouseEncoding::NUMBERS.iter().find(|(_, known)| *known == number);
                mouse
                    .map(|(reports, _)| self.mouse == *reports)
                    .or(encoding.map(|(encoding, _)| self.mouse_encoding == *encoding))
            }
        }
    }
}
