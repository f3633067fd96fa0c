//! How much of an agent's words is kept.

use fleet_core::text::shortened;

use super::LONGEST_FINAL;

/// Of what a tool gave back: the log has the rest.
const LONGEST_SUMMARY: usize = 1024;

/// Of what went wrong.
const LONGEST_TROUBLE: usize = 2 * 1024;

/// The last thing that an agent said, within its limit.
pub(crate) fn final_text(text: &str) -> String {
    shortened(text, LONGEST_FINAL).into_owned()
}

/// What came of a tool.
pub(crate) fn summary(text: &str) -> String {
    shortened(text.trim_end(), LONGEST_SUMMARY).into_owned()
}

/// What went wrong.
pub(crate) fn trouble(text: &str) -> String {
    shortened(text.trim(), LONGEST_TROUBLE).into_owned()
}

/// The end of a stream of lines, for agents that only print.
#[derive(Debug)]
pub(crate) struct Tail {
    text: String,
    most: usize,
}

impl Tail {
    /// That keeps at most so many bytes.
    pub(crate) const fn new(most: usize) -> Self {
        Self { text: String::new(), most }
    }

    /// One more line.
    pub(crate) fn push(&mut self, line: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.add(line);
    }

    /// More of the same line.
    pub(crate) fn add(&mut self, text: &str) {
        self.text.push_str(text);
        // Twice the limit, so that not every line moves all of it.
        if self.text.len() > 2 * self.most {
            self.cut();
        }
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
    }

    fn cut(&mut self) {
        let start = self.text.ceil_char_boundary(self.text.len().saturating_sub(self.most));
        self.text.drain(..start);
    }

    /// What there is of it.
    pub(crate) fn as_str(&self) -> &str {
        let start = self.text.ceil_char_boundary(self.text.len().saturating_sub(self.most));
        self.text[start..].trim()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_keeps_the_end_and_whole_characters() {
        let mut tail = Tail::new(10);
        for n in 0..10_000 {
            tail.push(&format!("漢{n}"));
            assert!(tail.text.len() <= 2 * tail.most + 20);
        }
        assert_eq!(tail.as_str(), "98\n漢9999");
        let mut short = Tail::new(100);
        short.push("a");
        short.push("b");
        assert_eq!(short.as_str(), "a\nb");
    }
}
