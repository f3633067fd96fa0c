//! A part of something long that is written.

use std::io::{self, Write};

/// Keeps some bytes of what is written to it, and then takes no more, so that writers stop early.
pub(crate) struct Window {
    skip: u64,
    most: usize,
    pub(crate) kept: Vec<u8>,
    /// Whether there was more.
    pub(crate) is_full: bool,
}

impl Window {
    pub(crate) const fn new(skip: u64, most: usize) -> Self {
        Self { skip, most, kept: Vec::new(), is_full: false }
    }
}

impl Write for Window {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let skipped = usize::try_from(self.skip).unwrap_or(usize::MAX).min(bytes.len());
        self.skip -= skipped as u64;
        let rest = &bytes[skipped..];
        let room = self.most - self.kept.len();
        if rest.len() > room {
            self.kept.extend_from_slice(&rest[..room]);
            self.is_full = true;
            return Err(io::Error::other("that is enough"));
        }
        self.kept.extend_from_slice(rest);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_keeps_its_part_and_no_more() {
        let text = b"first line\nsecond line\nthird\n";
        for (skip, most, expected, is_full) in [
            (0, 100, &text[..], false),
            (0, 29, &text[..], false),
            (0, 5, &b"first"[..], true),
            (11, 6, &b"second"[..], true),
            (23, 100, &b"third\n"[..], false),
            (500, 10, &b""[..], false),
        ] {
            for size in [1, 4, 64] {
                let mut window = Window::new(skip, most);
                let written = text.chunks(size).try_for_each(|chunk| window.write_all(chunk));
                assert_eq!(
                    (window.kept.as_slice(), window.is_full),
                    (expected, is_full),
                    "{skip} {most} {size}"
                );
                assert_eq!(written.is_err(), is_full);
            }
        }
    }
}
