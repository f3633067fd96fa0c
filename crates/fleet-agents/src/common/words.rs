//! How much of an agent's words is kept: each kind of text has one limit, the same for all agents. What is longer is cut,
//! and the raw log has the rest.

use std::borrow::Cow;

use fleet_core::text::shortened;

/// The last message: more than any report.
pub(crate) const LONGEST_FINAL: usize = 256 * 1024;

/// One piece of what an agent said or thought.
const LONGEST_SAID: usize = 64 * 1024;

const LONGEST_TROUBLE: usize = 2 * 1024;

const LONGEST_RESULT: usize = 1024;

/// What a tool is used on, the name of a tool, an id.
const LONGEST_LINE: usize = 500;

/// The last thing that an agent said, which may hold a report.
pub(crate) fn last(text: &str) -> String {
    shortened(text, LONGEST_FINAL).into_owned()
}

pub(crate) fn said(text: &str) -> String {
    shortened(text, LONGEST_SAID).into_owned()
}

pub(crate) fn trouble(text: &str) -> String {
    shortened(text.trim(), LONGEST_TROUBLE).into_owned()
}

pub(crate) fn result(text: &str) -> String {
    let text = text.trim_end().trim_start_matches('\n');
    shortened(text, LONGEST_RESULT).into_owned()
}

pub(crate) fn one_line(text: &str) -> String {
    // Cut first: what is thrown away need not be looked at.
    let near = &text[..text.floor_char_boundary(4 * LONGEST_LINE)];
    let mut line = near.split_whitespace().collect::<Vec<_>>().join(" ");
    if near.len() < text.len() && line.len() <= LONGEST_LINE && !text[near.len()..].trim_start().is_empty() {
        line.push('…');
    }
    shortened(&line, LONGEST_LINE).into_owned()
}

/// An id of a conversation, a message or a call of a tool.
pub(crate) fn id(text: &str) -> String {
    shortened(text, LONGEST_LINE).into_owned()
}

/// The beginning of a line of standard error, on which a sentence may be. Cut before it is made text: what is not UTF-8
/// grows threefold.
pub(crate) fn sentence(line: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(&line[..line.len().min(LONGEST_TROUBLE)])
}

/// How much of standard error is kept, for an agent that ends before its first event.
pub(crate) const LONGEST_STDERR: usize = 4 * 1024;

/// The end of what comes in lines or pieces.
#[derive(Debug)]
pub(crate) struct TextTail {
    text: String,
    most: usize,
}

impl TextTail {
    /// Keeps at most this many bytes.
    pub(crate) const fn new(most: usize) -> Self {
        Self { text: String::new(), most }
    }

    pub(crate) fn push(&mut self, line: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.add(line);
    }

    /// More of the same line.
    pub(crate) fn add(&mut self, text: &str) {
        self.text.push_str(self.end_of(text));
        // Twice the limit, so that not every line moves all of it.
        if self.text.len() > 2 * self.most {
            let kept = self.end_of(&self.text).len();
            self.text.drain(..self.text.len() - kept);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.text.clear();
    }

    pub(crate) fn as_str(&self) -> &str {
        self.end_of(&self.text).trim()
    }

    /// `None` if it is empty.
    pub(crate) fn some(&self) -> Option<&str> {
        Some(self.as_str()).filter(|text| !text.is_empty())
    }

    fn end_of<'t>(&self, text: &'t str) -> &'t str {
        &text[text.ceil_char_boundary(text.len().saturating_sub(self.most))..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_become_short_lines() {
        let long = one_line(&"word\n".repeat(100_000));
        assert!(long.len() <= LONGEST_LINE && long.ends_with('…') && long.starts_with("word word"));
        assert_eq!(one_line(&format!("a{}b", " ".repeat(10_000))), "a…");
        assert_eq!(one_line(&format!("a{}", " ".repeat(10_000))), "a");
        assert!(one_line(&"漢".repeat(1_000)).len() <= LONGEST_LINE);
    }

    #[test]
    fn what_is_not_text_does_not_grow() {
        assert!(sentence(&vec![0xff; 100_000]).len() <= 3 * LONGEST_TROUBLE);
        assert_eq!(sentence(b"fine"), "fine");
    }

    #[test]
    fn a_tail_keeps_the_end_and_whole_characters() {
        let mut tail = TextTail::new(10);
        for n in 0..10_000 {
            tail.push(&format!("漢{n}"));
            assert!(tail.text.len() <= 2 * tail.most);
        }
        assert_eq!(tail.as_str(), "98\n漢9999");
        tail.add(&"x".repeat(1_000));
        assert_eq!(tail.some(), Some("xxxxxxxxxx"));
        tail.clear();
        assert_eq!(tail.some(), None);
        let mut short = TextTail::new(100);
        short.push("a");
        short.push("b");
        assert_eq!(short.as_str(), "a\nb");
    }
}
