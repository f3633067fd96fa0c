//! JSON with places.
//!
//! serde_json decides what is JSON and says what is wrong with it, but not where a value stands. So a text is read twice:
//! the second walk only has to find the places, in a text that is known to be right.

use super::node::{MAX_DEPTH, Node, NodeKey, NodeValue, UnreadableText};
use crate::config::LineIndex;

pub(super) fn read(text: &str) -> Result<Node, UnreadableText> {
    serde_json::from_str::<serde_json::Value>(text).map_err(|error| {
        let at = LineIndex::new(text).offset(error.line(), error.column());
        let why = error.to_string();
        // The place is shown with the message; the parser's own end would say it twice.
        let why = why.rsplit_once(" at line ").map_or(why.as_str(), |(why, _)| why);
        UnreadableText::new(at, format!("not valid JSON: {why}"))
    })?;
    JsonReader { text, at: 0 }.value(0)
}

struct JsonReader<'t> {
    text: &'t str,
    at: usize,
}

impl JsonReader<'_> {
    fn peek(&mut self) -> u8 {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    fn value(&mut self, depth: usize) -> Result<Node, UnreadableText> {
        let first = self.peek();
        let start = self.at;
        if depth > MAX_DEPTH {
            return Err(UnreadableText::too_deep(start));
        }
        let value = match first {
            b'{' => self.table(depth)?,
            b'[' => self.list(depth)?,
            b'"' => NodeValue::Text(self.text()?),
            _ => self.word(),
        };
        Ok(Node { at: start..self.at, value })
    }

    fn table(&mut self, depth: usize) -> Result<NodeValue, UnreadableText> {
        let mut entries = Vec::new();
        self.at += 1;
        while self.peek() != b'}' {
            if self.peek() == b',' {
                self.at += 1;
                continue;
            }
            self.peek();
            let start = self.at;
            let text = self.text()?;
            let name = NodeKey { at: start..self.at, text };
            self.peek();
            self.at += 1;
            entries.push((name, self.value(depth + 1)?));
        }
        self.at += 1;
        Ok(NodeValue::Table(entries))
    }

    fn list(&mut self, depth: usize) -> Result<NodeValue, UnreadableText> {
        let mut values = Vec::new();
        self.at += 1;
        while self.peek() != b']' {
            if self.peek() == b',' {
                self.at += 1;
                continue;
            }
            values.push(self.value(depth + 1)?);
        }
        self.at += 1;
        Ok(NodeValue::List(values))
    }

    fn text(&mut self) -> Result<String, UnreadableText> {
        let start = self.at;
        let mut is_escaped = false;
        let length = self.text.as_bytes()[start + 1..].iter().position(|byte| {
            let ends = *byte == b'"' && !is_escaped;
            is_escaped = *byte == b'\\' && !is_escaped;
            ends
        });
        self.at = length.map_or(self.text.len(), |length| start + length + 2);
        serde_json::from_str(&self.text[start..self.at])
            .map_err(|error| UnreadableText::new(start, format!("not valid JSON: {error}")))
    }

    fn word(&mut self) -> NodeValue {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c)).unwrap_or(rest.len());
        self.at += end;
        match &rest[..end] {
            "null" => NodeValue::Null,
            "true" => NodeValue::Bool(true),
            "false" => NodeValue::Bool(false),
            number => NodeValue::Number(number.to_owned()),
        }
    }
}
