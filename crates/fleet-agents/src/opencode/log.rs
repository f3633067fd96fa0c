//! The lines of opencode's log: `key=value` pairs, values in quotes where they have spaces.

use std::borrow::Cow;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct LogLine<'a> {
    fields: Vec<(&'a str, Cow<'a, str>)>,
}

/// Further fields are ignored.
const MAX_FIELDS: usize = 32;

impl<'a> LogLine<'a> {
    /// `None` if it is not a line of the log.
    pub(super) fn parse(line: &'a str) -> Option<Self> {
        if !line.starts_with("timestamp=") {
            return None;
        }
        let mut fields = Vec::new();
        let mut rest = line;
        while fields.len() < MAX_FIELDS
            && let Some((key, after)) = rest.split_once('=')
        {
            let (value, after) = value(after);
            fields.push((key.trim_start(), value));
            rest = after;
        }
        let line = Self { fields };
        line.get("level").is_some().then_some(line)
    }

    pub(super) fn get(&self, key: &str) -> Option<&str> {
        self.fields.iter().find(|(name, _)| *name == key).map(|(_, value)| value.as_ref())
    }

    pub(super) fn message(&self) -> &str {
        self.get("message").unwrap_or_default()
    }

    /// Whether it reports trouble.
    pub(super) fn is_trouble(&self) -> bool {
        !matches!(self.get("level"), Some("DEBUG" | "INFO"))
    }

    /// Whether it is about a request for the task itself, not for a title or the like.
    pub(super) fn is_main(&self) -> bool {
        self.get("small") != Some("true")
    }
}

/// The value at the start of a text, and what follows it.
fn value(text: &str) -> (Cow<'_, str>, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(' ').unwrap_or(text.len());
        return (Cow::Borrowed(&text[..end]), &text[end..]);
    };
    let mut is_escaped = false;
    let end = quoted.find(|c| {
        let is_end = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    });
    let Some(end) = end else { return (Cow::Borrowed(quoted), "") };
    let whole = &text[..end + 2];
    let read = serde_json::from_str(whole).map_or(Cow::Borrowed(&quoted[..end]), Cow::Owned);
    (read, &quoted[end + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_with_and_without_quotes() {
        let line = LogLine::parse(
            r#"timestamp=2026 level=ERROR run=1 message="stream error" small=false e.error="a \"b\"\n=c" last="x"#,
        )
        .unwrap();
        assert_eq!(line.message(), "stream error");
        assert_eq!(line.get("e.error"), Some("a \"b\"\n=c"));
        assert_eq!(line.get("last"), Some("x"), "a quote that nobody closed");
        assert_eq!(line.get("none"), None);
        assert!(line.is_trouble() && line.is_main());
        for no in ["", "level=INFO", "timestamp=1 message=x", "Error: timestamp=1 level=INFO"] {
            assert_eq!(LogLine::parse(no), None, "{no}");
        }
    }
}
