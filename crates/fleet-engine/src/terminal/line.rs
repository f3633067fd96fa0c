//! A line that a person types while something else is shown.

use std::io;

use fleet_core::typing::PasteMarks;
use fleet_host::terminal::RawTerminal;
use tokio::sync::mpsc;

use super::attach::{read_keys, write_out};
use super::ends::EndSignals;
use super::keys::{DetachKey, KeyFilter};

/// As long as a prompt may be; what is typed or pasted beyond that is not taken.
const LONGEST_LINE: usize = 16 << 20;
/// Makes a terminal tell what is pasted from what is typed.
const MARK_PASTES: &[u8] = b"\x1b[?2004h";
const UNMARK_PASTES: &[u8] = b"\x1b[?2004l";

/// What a person did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypedLine {
    /// The line is another one.
    Changed,
    /// Sent it.
    Line(String),
    Detached,
}

/// Reads a line key by key, until it is dropped.
pub struct LineKeys {
    keys: mpsc::Receiver<Vec<u8>>,
    editor: LineEditor,
    ends: EndSignals,
    _raw: RawTerminal,
}

impl LineKeys {
    pub fn listen(detach: DetachKey) -> io::Result<Self> {
        let raw = RawTerminal::enter()?;
        write_out(MARK_PASTES)?;
        Ok(Self {
            keys: read_keys()?,
            editor: LineEditor::new(detach),
            ends: EndSignals::listen()?,
            _raw: raw,
        })
    }

    /// What has been typed and not sent.
    pub fn line(&self) -> &str {
        &self.editor.line
    }

    pub async fn next(&mut self) -> TypedLine {
        if let Some(sent) = self.editor.sent.pop() {
            return TypedLine::Line(sent);
        }
        tokio::select! {
            keys = self.keys.recv() => keys.map_or(TypedLine::Detached, |keys| self.editor.take(&keys)),
            () = self.ends.any() => TypedLine::Detached,
        }
    }
}

impl Drop for LineKeys {
    fn drop(&mut self) {
        let _ = write_out(UNMARK_PASTES);
    }
}

struct LineEditor {
    filter: KeyFilter,
    paste: PasteMarks,
    line: String,
    /// Bytes of a character that is not complete.
    rest: Vec<u8>,
    /// Lines that were sent and not taken yet, the newest first.
    sent: Vec<String>,
    is_escape: bool,
    /// Whether the key before was a carriage return: a line feed after it ends the same line.
    is_after_return: bool,
}

impl LineEditor {
    const fn new(detach: DetachKey) -> Self {
        Self {
            filter: KeyFilter::new(detach),
            paste: PasteMarks::new(),
            line: String::new(),
            rest: Vec::new(),
            sent: Vec::new(),
            is_escape: false,
            is_after_return: false,
        }
    }

    fn take(&mut self, keys: &[u8]) -> TypedLine {
        let (keys, is_detached) = self.filter.take(keys);
        for key in keys {
            if self.key(key) {
                return TypedLine::Detached;
            }
        }
        match self.sent.pop() {
            _ if is_detached => TypedLine::Detached,
            Some(line) => TypedLine::Line(line),
            None => TypedLine::Changed,
        }
    }

    /// Takes a key. Whether the person leaves.
    fn key(&mut self, key: u8) -> bool {
        let is_pasted = self.paste.push(key);
        if self.is_escape {
            // Arrow keys and the like mean nothing here; what is pasted has marks around it.
            self.is_escape = matches!(key, b'[' | b'O' | b'0'..=b'9' | b';');
            return false;
        }
        let is_same_line = std::mem::replace(&mut self.is_after_return, key == b'\r') && key == b'\n';
        match key {
            b'\r' | b'\n' | b'\t' if is_pasted && !is_same_line && self.line.len() < LONGEST_LINE => {
                self.line.push(if key == b'\t' { '\t' } else { '\n' });
            }
            // In a text these mean nothing.
            ..0x20 | 0x7f if is_pasted && key != 0x1b => {}
            0x03 | 0x04 if self.line.is_empty() => return true,
            0x03 | 0x15 => self.line.clear(),
            0x1b => self.is_escape = true,
            b'\r' | b'\n' => self.sent.insert(0, std::mem::take(&mut self.line)),
            0x7f | 0x08 => drop(self.line.pop()),
            b' '..=b'~' | 0x80.. if self.line.len() < LONGEST_LINE => self.letter(key),
            _ => {}
        }
        false
    }

    fn letter(&mut self, byte: u8) {
        self.rest.push(byte);
        match std::str::from_utf8(&self.rest) {
            Ok(text) => self.line.push_str(text),
            Err(error) if error.error_len().is_none() => return,
            Err(_) => {}
        }
        self.rest.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paste_of_several_lines_is_one_line_until_enter() {
        let mut editor = LineEditor::new("ctrl-]".parse().unwrap());
        assert_eq!(editor.take(b"see: \x1b[200~one\rtwo\r\nthr\x03ee\n\tfo"), TypedLine::Changed);
        assert_eq!(editor.take(b"ur\x1d\x04\x1b[20"), TypedLine::Changed, "no key in it means anything");
        assert_eq!(editor.take(b"1~!"), TypedLine::Changed);
        assert_eq!(editor.line, "see: one\ntwo\nthree\n\tfour!");
        let sent = "see: one\ntwo\nthree\n\tfour!".to_owned();
        assert_eq!(editor.take(b"\r"), TypedLine::Line(sent));
        assert_eq!(editor.take(b"next\r"), TypedLine::Line("next".to_owned()));
    }

    #[test]
    fn lines_are_edited_and_sent() {
        let mut editor = LineEditor::new("ctrl-]".parse().unwrap());
        assert_eq!(editor.take("hällo".as_bytes()), TypedLine::Changed);
        assert_eq!(editor.line, "hällo");
        assert_eq!(editor.take(b"\x7f\x7f"), TypedLine::Changed);
        assert_eq!(editor.take(b"p\x1b[A\r"), TypedLine::Line("hälp".to_owned()));
        assert_eq!(editor.take(b"abc\x15"), TypedLine::Changed);
        assert_eq!(editor.line, "");
        assert_eq!(editor.take(b"x\x03"), TypedLine::Changed, "the first empties the line");
        assert_eq!(editor.take(b"\x03"), TypedLine::Detached);
        assert_eq!(editor.take(b"\x1d"), TypedLine::Detached);
        assert_eq!(editor.take(b"a\rb\r"), TypedLine::Line("a".to_owned()));
        assert_eq!(editor.sent, ["b"]);
    }
}
