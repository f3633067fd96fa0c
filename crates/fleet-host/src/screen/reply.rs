//! What a terminal answers when a program asks.
//!
//! Owns the list of questions that have an answer. Must never answer with anything that a program has written: answers are
//! typed input to whatever reads the terminal next.

use super::emulator::Emulator;

/// How many answers are given to one piece of output. Programs ask a handful of questions at their start; thousands would
/// fill the memory of whoever has to deliver the answers.
const AT_ONCE: usize = 32;

#[derive(Debug, Default)]
pub(super) struct Replies {
    bytes: Vec<u8>,
    count: usize,
}

impl Replies {
    fn push(&mut self, answer: &str) {
        if self.count < AT_ONCE {
            self.count += 1;
            self.bytes.extend_from_slice(answer.as_bytes());
        }
    }

    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(self).bytes
    }
}

/// A VT220 with colours.
pub(super) fn attributes(of: &mut Emulator) {
    of.replies.push("\x1b[?62;22c");
}

pub(super) fn secondary_attributes(of: &mut Emulator) {
    of.replies.push("\x1b[>1;1;0c");
}

pub(super) fn version(of: &mut Emulator) {
    of.replies.push(concat!("\x1bP>|codefleet(", env!("CARGO_PKG_VERSION"), ")\x1b\\"));
}

pub(super) fn status(of: &mut Emulator, question: u16) {
    match question {
        5 => of.replies.push("\x1b[0n"),
        6 => {
            let cursor = of.grid().cursor;
            let top = if of.origin { of.grid().region().0 } else { 0 };
            let row = cursor.row.saturating_sub(top);
            of.replies.push(&format!("\x1b[{};{}R", row + 1, cursor.column + 1));
        }
        _ => {}
    }
}

/// Whether a mode is set (1), reset (2) or unknown (0).
pub(super) fn mode(of: &mut Emulator, number: u16) {
    let known = match number {
        6 => Some(of.origin),
        7 => Some(of.autowrap),
        _ => of.modes.is_set(number),
    };
    let value = known.map_or(0, |set| if set { 1 } else { 2 });
    of.replies.push(&format!("\x1b[?{number};{value}$y"));
}

/// The colours of text and background, so that a program can choose readable ones: those of a plain dark terminal.
pub(super) fn operating_system_command(of: &mut Emulator, params: &[&[u8]], bell_terminated: bool) {
    let answer = match params {
        [b"10", b"?"] => "10;rgb:d4d4/d4d4/d4d4",
        [b"11", b"?"] => "11;rgb:1e1e/1e1e/1e1e",
        _ => return,
    };
    let end = if bell_terminated { "\x07" } else { "\x1b\\" };
    of.replies.push(&format!("\x1b]{answer}{end}"));
}
