//! Differences on a terminal: coloured, and with everything in them that could drive the terminal made visible.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use fleet_core::text::escaped_lines;

use super::style::{BOLD, colored, paint};

/// A longer line is shown in parts.
const MAX_LINE_BYTES: usize = 64 * 1024;

/// Takes what git says without colours, and passes it on for people to read.
///
/// Git could colour it, but then its colours could not be told from those that an agent wrote into a file: such a file
/// could hide what it holds.
pub(crate) struct Painter<W> {
    out: W,
    line: Vec<u8>,
    /// How the line began of which this is a later part.
    begun: Option<Style>,
    in_hunk: bool,
}

impl<W: Write> Painter<W> {
    pub(crate) const fn new(out: W) -> Self {
        Self { out, line: Vec::new(), begun: None, in_hunk: false }
    }

    /// Shows what is left of a last line.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        if !self.line.is_empty() {
            self.show("")?;
        }
        self.out.flush()
    }

    fn show(&mut self, end: &str) -> io::Result<()> {
        let text = String::from_utf8_lossy(&self.line);
        let style = self.begun.unwrap_or_else(|| self.style(&text));
        // The `\r` of files that have them at the end of every line says nothing.
        let text = text.strip_suffix('\r').unwrap_or(&text);
        write!(self.out, "{}{end}", paint(style, &escaped_lines(text)))?;
        if self.begun.is_none() {
            self.in_hunk = (self.in_hunk && !text.starts_with("diff ")) || text.starts_with("@@ ");
        }
        self.begun = if end.is_empty() { Some(style) } else { None };
        self.line.clear();
        Ok(())
    }

    fn style(&self, line: &str) -> Style {
        match line.as_bytes().first() {
            Some(b'+') if self.in_hunk => colored(AnsiColor::Green),
            Some(b'-') if self.in_hunk => colored(AnsiColor::Red),
            Some(b'@') => colored(AnsiColor::Cyan),
            Some(b' ' | b'\\') | None => Style::new(),
            Some(_) if self.in_hunk && !line.starts_with("diff ") => Style::new(),
            Some(_) => BOLD,
        }
    }
}

impl<W: Write> Write for Painter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let taken = end.unwrap_or(bytes.len()).min(MAX_LINE_BYTES - self.line.len());
        self.line.extend_from_slice(&bytes[..taken]);
        if end == Some(taken) {
            self.show("\n")?;
            return Ok(taken + 1);
        }
        if self.line.len() >= MAX_LINE_BYTES {
            self.show("")?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &[u8]) -> String {
        let mut out = Vec::new();
        let mut painter = Painter::new(&mut out);
        painter.write_all(text).unwrap();
        painter.finish().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn nothing_in_a_file_reaches_the_terminal() {
        let text = shown(b"@@ -1 +1 @@\n-a\r\n+\x1b[8mhidden\x1b]0;title\x07\xff\n");
        assert_eq!(text, "@@ -1 +1 @@\n-a\n+\\u{1b}[8mhidden\\u{1b}]0;title\\u{7}\u{fffd}\n");
    }

    #[test]
    fn a_line_without_end_is_shown_in_parts() {
        let long = vec![b'x'; MAX_LINE_BYTES * 2 + 5];
        assert_eq!(shown(&long).len(), long.len());
        assert_eq!(shown(b""), "");
    }
}
