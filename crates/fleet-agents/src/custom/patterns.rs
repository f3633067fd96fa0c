//! What the user's patterns find in a line.

use fleet_core::event::{AgentEvent, Counted, Tokens};
use fleet_core::run::Reason;
use regex_lite::{Captures, Regex, RegexBuilder};

use super::spec::{CustomError, OutputPatterns};
use crate::adapter::AgentFailure;
use crate::common::amount::{micro_usd, whole};
use crate::common::words;

/// More of a line is not looked at: the time that a pattern takes grows with the line.
const LONGEST_LINE: usize = 16 * 1024;
/// A pattern that becomes larger than this, in bytes, is refused.
const LARGEST: usize = 256 * 1024;
/// The groups of a pattern for usage.
const GROUPS: &[&str] = &["input", "output", "cache_read", "cache_write", "cost"];

/// The compiled patterns.
#[derive(Debug)]
pub(super) struct Finder {
    session: Option<Regex>,
    usage: Option<Regex>,
    errors: Vec<(Reason, Regex)>,
}

impl Finder {
    pub(super) fn new(agent: &str, patterns: &OutputPatterns) -> Result<Self, CustomError> {
        let read = |pattern: &String| {
            RegexBuilder::new(pattern).size_limit(LARGEST).build().map_err(|error| CustomError::Pattern {
                agent: agent.to_owned(),
                pattern: pattern.clone(),
                problem: error.to_string(),
            })
        };
        let usage = patterns.usage.as_ref().map(read).transpose()?;
        if let Some(usage) = &usage
            && !usage.capture_names().flatten().any(|name| GROUPS.contains(&name))
        {
            let (agent, pattern) = (agent.to_owned(), usage.to_string());
            return Err(CustomError::NoGroup { agent, pattern });
        }
        let errors = patterns.errors.iter().map(|(reason, pattern)| Ok((*reason, read(pattern)?)));
        Ok(Self {
            session: patterns.session.as_ref().map(read).transpose()?,
            usage,
            errors: errors.collect::<Result<_, _>>()?,
        })
    }

    pub(super) fn session(&self, line: &str) -> Option<String> {
        let found = self.session.as_ref()?.captures(searched_part(line))?;
        let id = found.name("session").or_else(|| found.get(1)).or_else(|| found.get(0))?.as_str().trim();
        (!id.is_empty()).then(|| words::id(id))
    }

    pub(super) fn usage(&self, line: &str) -> Vec<AgentEvent> {
        let found = self.usage.as_ref().and_then(|usage| usage.captures(searched_part(line)));
        let Some(found) = found else { return Vec::new() };
        let counted = Counted::Delta;
        let count = |group: &str| number(&found, group).and_then(whole).unwrap_or(0);
        let tokens = Tokens {
            input: count("input"),
            output: count("output"),
            cache_read: count("cache_read"),
            cache_write: count("cache_write"),
        };
        let used = (tokens != Tokens::default()).then_some(AgentEvent::Usage { tokens, counted });
        let cost = number(&found, "cost").and_then(micro_usd);
        used.into_iter().chain(cost.map(|micro_usd| AgentEvent::Cost { micro_usd, counted })).collect()
    }

    pub(super) fn failure(&self, line: &str) -> Option<AgentFailure> {
        let line = searched_part(line);
        let (reason, _) = self.errors.iter().find(|(_, pattern)| pattern.is_match(line))?;
        Some(AgentFailure::new(*reason, words::trouble(line)))
    }
}

fn searched_part(line: &str) -> &str {
    &line[..line.floor_char_boundary(LONGEST_LINE)]
}

/// A number as people write it: `1234`, `1,234`, `1_234`, `1.2k`, `3M`.
fn number(found: &Captures<'_>, group: &str) -> Option<f64> {
    let text = found.name(group)?.as_str().trim().trim_start_matches('$').replace([',', '_', ' '], "");
    let (digits, times) = match text.as_bytes().last()? {
        b'k' | b'K' => (&text[..text.len() - 1], 1e3),
        b'm' | b'M' => (&text[..text.len() - 1], 1e6),
        _ => (text.as_str(), 1.0),
    };
    digits.parse::<f64>().ok().map(|number| number * times)
}
