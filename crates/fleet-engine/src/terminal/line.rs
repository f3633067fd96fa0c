//! A line that a person types while something else is shown.

use std::io;

use fleet_host::terminal::RawTerminal;
use tokio::sync::mpsc;

use super::attach::read_keys;
use super::ends::EndSignals;
use super::keys::{DetachKey, KeyFilter};

/// A longer line is not taken.
const LONGEST_LINE: usize = 64 * 1024;

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

struct LineEditor {
    filter: KeyFilter,
    line: String,
    /// Bytes of a character that is not complete.
    rest: Vec<u8>,
    /// Lines that were sent and not taken yet, the newest first.
    sent: Vec<String>,
    is_escape: bool,
}

impl LineEditor {
    const fn new(detach: DetachKey) -> Self {
        let filter = KeyFilter::new(detach);
        Self { filter, line: String::new(), rest: Vec::new(), sent: Vec::new(), is_escape: false }
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
        if self.is_escape {
            // Arrow keys and the like mean nothing here.
            self.is_escape = matches!(key, b'[' | b'O' | b'0'..=b'9' | b';');
            return false;
        }
        match key {
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
