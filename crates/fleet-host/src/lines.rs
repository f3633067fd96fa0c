//! Lines of a stream of bytes that may be anything.
//!
//! Owns the splitting of what an agent writes. Must never hold more than one line of the given size, however long a
//! line is, and must never lose count of where in the stream it is.

use std::mem;

/// What is kept of the buffer between long lines.
const KEPT_CAPACITY: usize = 64 * 1024;

/// A line of a stream, without its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// Where in the stream it starts.
    pub offset: u64,
    /// Its bytes, which need not be text, without `\n` or `\r\n`. A lone `\r` and the line separators of Unicode are
    /// part of a line.
    pub bytes: &'a [u8],
    /// Whether it was longer than may be held; the rest of it was dropped.
    pub cut: bool,
}

#[derive(Debug)]
pub struct LineSplitter {
    max: usize,
    /// Where the unfinished line starts.
    start: u64,
    /// How long the unfinished line is by now.
    length: u64,
    /// Its beginning: one byte more than the maximum, which may turn out to be the `\r` of its end.
    held: Vec<u8>,
}

impl LineSplitter {
    /// Lines of up to `max` bytes of a stream that begins.
    pub fn new(max: usize) -> Self {
        Self::starting_at(max, 0)
    }

    /// Lines of up to `max` bytes of a stream that is joined at a position, which is taken for the start of a line.
    pub fn starting_at(max: usize, offset: u64) -> Self {
        Self { max, start: offset, length: 0, held: Vec::new() }
    }

    /// Where in the stream the unfinished line begins.
    pub fn line_start(&self) -> u64 {
        self.start
    }

    /// Where in the stream this is: after all that was pushed.
    pub fn position(&self) -> u64 {
        self.start + self.length
    }

    /// Takes the next bytes of the stream and hands out each line that ends in them.
    pub fn push(&mut self, chunk: &[u8], each: &mut dyn FnMut(Line<'_>)) {
        let mut rest = chunk;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, after) = (&rest[..end], &rest[end + 1..]);
            if self.length == 0 {
                // The common case: the whole line is in the chunk, and nothing is copied.
                each(line_of(self.start, line, length_of(line), self.max));
                self.start += length_of(line) + 1;
            } else {
                self.hold(line);
                self.hand_out(each);
                self.start += 1;
            }
            rest = after;
        }
        self.hold(rest);
    }

    /// The stream has ended: hands out what is left when it did not end with a line end.
    pub fn finish(&mut self, each: &mut dyn FnMut(Line<'_>)) {
        if self.length > 0 {
            self.hand_out(each);
        }
    }

    /// Part of the stream is missing: hands out what is left of the line before, and goes on at a position.
    pub fn skip_to(&mut self, offset: u64, each: &mut dyn FnMut(Line<'_>)) {
        self.finish(each);
        self.start = offset;
    }

    fn hold(&mut self, bytes: &[u8]) {
        let room = self.max.saturating_add(1).saturating_sub(self.held.len());
        self.held.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.length += length_of(bytes);
    }

    fn hand_out(&mut self, each: &mut dyn FnMut(Line<'_>)) {
        let length = mem::take(&mut self.length);
        each(line_of(self.start, &self.held, length, self.max));
        self.start += length;
        self.held.clear();
        self.held.shrink_to(KEPT_CAPACITY);
    }
}

/// The line whose beginning is `held`, and which is `length` bytes long.
fn line_of(offset: u64, held: &[u8], length: u64, max: usize) -> Line<'_> {
    let complete = length_of(held) == length;
    let bytes = held.strip_suffix(b"\r").filter(|_| complete).unwrap_or(held);
    let cut = !complete || bytes.len() > max;
    Line { offset, bytes: &bytes[..bytes.len().min(max)], cut }
}

fn length_of(bytes: &[u8]) -> u64 {
    bytes.len() as u64
}

#[cfg(test)]
mod tests;
