//! What the message of a snapshot says, for people and for reading it back.

use std::fmt::Write as _;

use crate::git::oid::Oid;

/// What is known about a snapshot apart from its tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MessageFacts {
    pub(super) run: String,
    pub(super) why: String,
    pub(super) at_seconds: i64,
    pub(super) head: Option<Oid>,
    /// The tree of what was staged, if it has its own parent.
    pub(super) staged: Option<Oid>,
    /// The tree of what is only in nested repositories, likewise.
    pub(super) nested: Option<Oid>,
}

impl MessageFacts {
    /// Whether a snapshot with these facts would hold nothing new.
    pub(super) fn same_content(&self, other: &Self) -> bool {
        (&self.head, &self.staged, &self.nested) == (&other.head, &other.staged, &other.nested)
    }

    pub(super) fn to_message(&self) -> String {
        let why: String = self.why.chars().map(|c| if c.is_control() { ' ' } else { c }).take(200).collect();
        let mut message = format!("snapshot: {}\n\nrun: {}\nat: {}\n", why.trim(), self.run, self.at_seconds);
        for (key, value) in [("head", &self.head), ("staged", &self.staged), ("nested", &self.nested)] {
            let value = value.as_ref().map_or("none", Oid::as_str);
            // Writing to a string cannot fail.
            let _ = writeln!(message, "{key}: {value}");
        }
        message
    }

    /// Reads a message back. `None` if it is none of ours, or of another version.
    pub(super) fn parse(message: &str) -> Option<Self> {
        let (subject, body) = message.split_once('\n')?;
        let why = subject.strip_prefix("snapshot: ").or_else(|| subject.strip_prefix("snapshot:"))?;
        let value = |key: &str| {
            body.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": ")).map(str::trim)
        };
        let object = |key: &str| match value(key)? {
            "none" => Some(None),
            text => Oid::parse(text).ok().map(Some),
        };
        Some(Self {
            run: value("run")?.to_owned(),
            why: why.to_owned(),
            at_seconds: value("at")?.parse().ok()?,
            head: object("head")?,
            staged: object("staged")?,
            nested: object("nested")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_reads_back() {
        let head = Oid::parse("da39a3ee5e6b4b0d3255bfef95601890afd80709").unwrap();
        let facts = MessageFacts {
            run: "r1".to_owned(),
            why: "before kill".to_owned(),
            at_seconds: 7,
            head: Some(head),
            staged: None,
            nested: None,
        };
        assert_eq!(MessageFacts::parse(&facts.to_message()), Some(facts));
    }

    #[test]
    fn a_reason_cannot_forge_a_line() {
        let facts = MessageFacts {
            run: "r1".to_owned(),
            why: "x\n\nrun: other".to_owned(),
            at_seconds: 7,
            head: None,
            staged: None,
            nested: None,
        };
        let read = MessageFacts::parse(&facts.to_message()).unwrap();
        assert_eq!((read.run.as_str(), read.why.as_str()), ("r1", "x  run: other"));
        assert_eq!(MessageFacts::parse("fix: a bug\n"), None);
    }
}
