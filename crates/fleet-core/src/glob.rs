//! Names that a pattern stands for: of branches, tasks, runs.
//!
//! Owns how `*`, `?` and `[…]` are read where names are chosen. Unlike in the patterns of file scopes, `*` also matches
//! slashes: who types `fleet/*` or `*` means everything that begins so. None of the three can be part of a branch's
//! name or of an id, so nothing has to be escaped.

use std::iter::Peekable;
use std::str::Chars;

/// How long a pattern may be; names of branches are shorter.
const LONGEST_PATTERN: usize = 512;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamePattern {
    parts: Vec<GlobPart>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum GlobPart {
    Is(char),
    Any,
    Many,
    OneOf { ranges: Vec<(char, char)>, wanted: bool },
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    #[error("a pattern is empty; `*` stands for everything")]
    Empty,
    #[error("a pattern is longer than {LONGEST_PATTERN} characters")]
    TooLong,
    /// A class has no end, or a range in it runs downwards.
    #[error("in the pattern {0:?} a `[` begins an invalid class; write for example `[a-c]`")]
    Class(String),
}

impl NamePattern {
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        if text.is_empty() {
            return Err(PatternError::Empty);
        }
        if text.chars().count() > LONGEST_PATTERN {
            return Err(PatternError::TooLong);
        }
        let mut rest = text.chars().peekable();
        let mut parts = Vec::new();
        while let Some(next) = rest.next() {
            let part = match next {
                '*' => GlobPart::Many,
                '?' => GlobPart::Any,
                '[' => class(&mut rest).ok_or_else(|| PatternError::Class(text.to_owned()))?,
                other => GlobPart::Is(other),
            };
            // Two stars in a row say no more than one.
            if part != GlobPart::Many || parts.last() != Some(&GlobPart::Many) {
                parts.push(part);
            }
        }
        Ok(Self { parts })
    }

    /// Whether a text means more than the name that it is.
    pub fn has_wildcards(text: &str) -> bool {
        text.contains(['*', '?', '['])
    }

    /// Whether a name is meant. Goes back to the last star only, so the time is bounded by the product of the lengths.
    pub fn matches(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        let (mut at, mut part) = (0, 0);
        let mut star: Option<(usize, usize)> = None;
        while at < name.len() {
            match self.parts.get(part) {
                Some(GlobPart::Many) => {
                    part += 1;
                    star = Some((part, at));
                    continue;
                }
                Some(wanted) if wanted.is(name[at]) => {
                    part += 1;
                    at += 1;
                    continue;
                }
                _ => {}
            }
            // The last star takes one character more.
            let Some((after, taken)) = star else { return false };
            star = Some((after, taken + 1));
            (part, at) = (after, taken + 1);
        }
        self.parts[part..].iter().all(|part| *part == GlobPart::Many)
    }
}

impl GlobPart {
    fn is(&self, c: char) -> bool {
        match self {
            Self::Is(wanted) => *wanted == c,
            Self::Any | Self::Many => true,
            Self::OneOf { ranges, wanted } => {
                ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)) == *wanted
            }
        }
    }
}

/// What follows a `[`, up to its `]`.
fn class(rest: &mut Peekable<Chars<'_>>) -> Option<GlobPart> {
    let wanted = rest.next_if(|c| matches!(c, '!' | '^')).is_none();
    let mut ranges = Vec::new();
    loop {
        let from = match rest.next()? {
            ']' if !ranges.is_empty() => return Some(GlobPart::OneOf { ranges, wanted }),
            other => other,
        };
        let mut to = from;
        if rest.peek() == Some(&'-') {
            rest.next();
            match rest.next()? {
                // A dash at the end is literal.
                ']' => {
                    ranges.extend([(from, from), ('-', '-')]);
                    return Some(GlobPart::OneOf { ranges, wanted });
                }
                end => to = end,
            }
        }
        if from > to {
            return None;
        }
        ranges.push((from, to));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(pattern: &str, name: &str) -> bool {
        NamePattern::parse(pattern).unwrap().matches(name)
    }

    #[test]
    fn stars_cross_slashes_and_the_rest_is_literal() {
        for (pattern, name, should) in [
            ("*", "fleet/t0", true),
            ("fleet/*", "fleet/t0/x", true),
            ("fleet/*", "fleet", false),
            ("*-A", "login-A", true),
            ("*-A", "login-AB", false),
            ("lo*in-?", "login-B", true),
            ("lo*in-?", "lo/gin-B", true),
            ("login-?", "login-", false),
            ("login-[A-C]", "login-C", true),
            ("login-[A-C]", "login-D", false),
            ("login-[!A-C]", "login-D", true),
            ("login-[A-]", "login--", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-b-b-c-d", false),
            ("?", "ü", true),
            ("login", "login", true),
            ("login", "login2", false),
            ("**", "", true),
        ] {
            assert_eq!(fits(pattern, name), should, "{pattern} {name}");
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        assert_eq!(NamePattern::parse(""), Err(PatternError::Empty));
        assert_eq!(NamePattern::parse(&"x".repeat(600)), Err(PatternError::TooLong));
        for text in ["a[", "a[b", "a[]", "a[z-a]", "a[b-"] {
            assert_eq!(NamePattern::parse(text), Err(PatternError::Class(text.to_owned())), "{text}");
        }
    }

    #[test]
    fn hostile_patterns_end_soon() {
        let pattern = "*a".repeat(200) + "b";
        assert!(!fits(&pattern, &"a".repeat(5_000)));
    }
}
