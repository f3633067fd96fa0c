//! JSON as models write it, found amid prose.
//!
//! Owns a lenient parser that accepts their mistakes: trailing commas, line breaks and unknown escapes in strings,
//! `None` and `True`. serde_json was not enough: it refuses all of these, and it cannot say where an object ends in a
//! text that goes on. Must never take more steps than a fixed multiple of the text's length.

use serde_json::{Map, Number, Value};

/// No report nests deeper; text that does is not read as an object.
const MAX_DEPTH: usize = 32;
/// How often the text may be parsed again by attempts that fail. Prose with braces fails at once; only a text that is
/// made for it uses this up.
const MAX_PARSES: usize = 8;

/// The objects of a text from left to right, those inside of others not counted.
pub(super) fn objects(text: &str) -> impl Iterator<Item = Map<String, Value>> + '_ {
    let mut reader = JsonScanner { text, at: 0, fuel: text.len().saturating_mul(MAX_PARSES) };
    std::iter::from_fn(move || reader.next_object())
}

struct JsonScanner<'a> {
    text: &'a str,
    at: usize,
    fuel: usize,
}

impl JsonScanner<'_> {
    fn next_object(&mut self) -> Option<Map<String, Value>> {
        loop {
            let start = self.at + self.text.get(self.at..)?.find('{')?;
            self.at = start;
            let attempt = self.object(0);
            if attempt.is_some() || self.fuel == 0 {
                return attempt;
            }
            self.at = start + 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The next byte, as long as there is fuel.
    fn take(&mut self) -> Option<u8> {
        self.fuel = self.fuel.checked_sub(1)?;
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    /// Passes white space and tells what follows.
    fn after_space(&mut self) -> Option<u8> {
        while self.peek()?.is_ascii_whitespace() {
            self.take()?;
        }
        self.peek()
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.after_space()? == byte).then(|| self.take())?.map(|_| ())
    }

    fn object(&mut self, depth: usize) -> Option<Map<String, Value>> {
        self.expect(b'{')?;
        let mut fields = Map::new();
        while !self.closed_by(b'}')? {
            let name = self.string()?;
            self.expect(b':')?;
            let value = self.value(depth + 1)?;
            fields.insert(name, value);
            self.separated_or(b'}')?;
        }
        Some(fields)
    }

    fn array(&mut self, depth: usize) -> Option<Vec<Value>> {
        self.expect(b'[')?;
        let mut items = Vec::new();
        while !self.closed_by(b']')? {
            items.push(self.value(depth + 1)?);
            self.separated_or(b']')?;
        }
        Some(items)
    }

    /// Takes the closing bracket if it is next.
    fn closed_by(&mut self, bracket: u8) -> Option<bool> {
        if self.after_space()? == bracket {
            self.take()?;
            return Some(true);
        }
        Some(false)
    }

    /// A comma, which may also stand before the closing bracket; without one the bracket must follow.
    fn separated_or(&mut self, bracket: u8) -> Option<()> {
        match self.after_space()? {
            b',' => self.take().map(|_| ()),
            byte => (byte == bracket).then_some(()),
        }
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        match self.after_space()? {
            b'{' => self.object(depth).map(Value::Object),
            b'[' => self.array(depth).map(Value::Array),
            b'"' => self.string().map(Value::String),
            _ => self.word(),
        }
    }

    /// A number, or one of the words `true`, `false` and `null`.
    fn word(&mut self) -> Option<Value> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)) {
            self.take()?;
        }
        match &self.text[start..self.at] {
            "true" | "True" => Some(Value::Bool(true)),
            "false" | "False" => Some(Value::Bool(false)),
            "null" | "None" | "undefined" => Some(Value::Null),
            number => number.parse::<Number>().ok().map(Value::Number),
        }
    }

    fn string(&mut self) -> Option<String> {
        self.expect(b'"')?;
        let mut out = String::new();
        loop {
            let start = self.at;
            while !matches!(self.peek()?, b'"' | b'\\') {
                self.take()?;
            }
            // Both ends stand beside an ASCII character, so they are boundaries.
            out.push_str(self.text.get(start..self.at)?);
            if self.take()? == b'"' {
                return Some(out);
            }
            self.escape(&mut out)?;
        }
    }

    /// What follows a backslash. An escape that JSON does not know is taken literally, as in `C:\dir`.
    fn escape(&mut self, out: &mut String) -> Option<()> {
        let known = match self.peek()? {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'u' => return self.unicode(out),
            _ => {
                out.push('\\');
                return Some(());
            }
        };
        out.push(known);
        self.take().map(|_| ())
    }

    /// `uXXXX`, or two of them for a character beyond the first plane; half of a pair is the replacement
    /// character.
    fn unicode(&mut self, out: &mut String) -> Option<()> {
        self.take()?;
        let Some(first) = self.hex() else {
            out.push_str("\\u");
            return Some(());
        };
        let mut units = vec![first];
        if (0xd800..0xdc00).contains(&first) && self.text[self.at..].starts_with("\\u") {
            let before = self.at;
            self.at += 2;
            match self.hex() {
                Some(second) if (0xdc00..0xe000).contains(&second) => units.push(second),
                // It belongs to the next character.
                _ => self.at = before,
            }
        }
        out.push_str(&String::from_utf16_lossy(&units));
        Some(())
    }

    /// Four hexadecimal digits; takes nothing if they are not there.
    fn hex(&mut self) -> Option<u16> {
        let digits = self.text.get(self.at..self.at + 4)?;
        let all_digits = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let unit = u16::from_str_radix(digits, 16).ok().filter(|_| all_digits)?;
        self.fuel = self.fuel.saturating_sub(4);
        self.at += 4;
        Some(unit)
    }
}
