//! One person's terminal that shows a screen.

use super::frame::{Frame, follow};
use super::modes::Modes;
use super::paint::Painter;
use super::{CursorPosition, Screen};
use crate::TerminalSize;

/// What one terminal shows of one screen.
///
/// It knows what it has sent and compares with that, so it can be updated as seldom as the terminal is slow. What it sends
/// is for a terminal that has got [`enter`](Self::enter) before.
#[derive(Debug)]
pub struct ClientView {
    size: TerminalSize,
    shown: Option<Frame>,
    /// The modes of that terminal.
    modes: Modes,
    /// The position of the screen that is in its upper left corner.
    origin: CursorPosition,
    generation: u64,
}

/// The terminal draws what comes until the second one at once, if it can.
const BEGIN_UPDATE: &[u8] = b"\x1b[?2026h";
const END_UPDATE: &[u8] = b"\x1b[?2026l";

/// While something is drawn.
const HIDE_CURSOR: &[u8] = b"\x1b[?25l";

impl ClientView {
    pub fn new(size: TerminalSize) -> Self {
        let origin = CursorPosition { column: 0, row: 0 };
        Self { size, shown: None, modes: Modes::default(), origin, generation: 0 }
    }

    /// Takes over a person's terminal: what it shows comes back with [`leave`](Self::leave). A line that is too long for it
    /// does not go on in the next one, because it would if the terminal draws a character wider than we think.
    pub fn enter() -> &'static [u8] {
        b"\x1b[?1049h\x1b[?7l\x1b[0m\x1b[2J\x1b[H"
    }

    /// Gives a terminal back, with everything reset that a view may have set.
    pub fn leave() -> &'static [u8] {
        b"\x1b[?2026l\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[?1l\x1b>\
          \x1b[0 q\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l"
    }

    /// The terminal has another size, and shows nothing that can be relied on.
    pub fn resize(&mut self, size: TerminalSize) {
        self.size = size;
        self.redraw();
    }

    pub fn size(&self) -> TerminalSize {
        self.size
    }

    /// The next update draws everything.
    pub fn redraw(&mut self) {
        self.shown = None;
    }

    /// Where on the screen the upper left corner of the terminal is: not at its beginning while the terminal is smaller.
    /// What the mouse reports counts from there.
    pub fn origin(&self) -> CursorPosition {
        self.origin
    }

    /// What brings the terminal from what it shows to the screen as it is now. Empty if it shows that already.
    #[must_use]
    pub fn update(&mut self, screen: &Screen) -> Vec<u8> {
        if self.shown.is_some() && self.generation == screen.generation() {
            return Vec::new();
        }
        self.generation = screen.generation();
        self.origin = follow(self.origin, screen, self.size);
        let frame = Frame::of(screen, self.size, self.origin);
        let drawing = match &self.shown {
            Some(before) => changes(before, &frame, Painter::default()),
            None => changes(&Frame::blank(self.size), &frame, Painter::clearing()),
        };
        let moved = self.shown.as_ref().is_none_or(|before| before.cursor != frame.cursor);
        let mut update = Vec::new();
        if !drawing.is_empty() {
            update.extend([BEGIN_UPDATE, HIDE_CURSOR, &drawing].concat());
            self.modes.cursor_visible = false;
        }
        let mut ending = Painter::default();
        if moved || !drawing.is_empty() {
            ending.move_to(frame.cursor);
        }
        ending.modes(self.modes, screen.modes());
        update.extend(ending.finish());
        if !drawing.is_empty() {
            update.extend(END_UPDATE);
        }
        self.modes = screen.modes();
        self.shown = Some(frame);
        update
    }
}

fn changes(before: &Frame, now: &Frame, mut painter: Painter) -> Vec<u8> {
    for (number, (before, now)) in (0..).zip(before.rows.iter().zip(&now.rows)) {
        painter.row(number, before, now);
    }
    painter.finish()
}
