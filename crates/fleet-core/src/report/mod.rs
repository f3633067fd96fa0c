//! The result contract: what an agent says about its own work, one JSON object for all agents.
//!
//! Owns the shape of that object and how it is found in whatever an agent wrote last. A report is a claim: what it
//! is worth is decided in [`crate::outcome`], against what git shows. Must never trust its input: every size is
//! bounded, and the time to look for a report grows with the length of the text and no faster.

mod json;
mod read;
#[cfg(test)]
mod tests;
mod verdict;

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use verdict::{Points, Verdict};

use crate::text::shorten;
use crate::transition::{UnknownName, named};
use crate::workflow::Returns;

named! {
    /// How an agent says it ended.
    pub enum ReportStatus: "report status" {
        /// It did what was asked, and changed something.
        Completed = "completed",
        /// It did what was asked, and nothing had to change.
        CompletedNoChanges = "completed_no_changes",
        Blocked = "blocked",
    }
}

named! {
    /// The result of a test that an agent says it ran.
    pub enum TestOutcome: "test outcome" {
        Passed = "passed",
        Failed = "failed",
        Skipped = "skipped",
        /// The agent named the test and did not say.
        Unknown = "unknown",
    }
}

/// A test or a check that an agent says it ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestLine {
    /// Its name, or the command.
    pub name: String,
    /// Its result.
    pub outcome: TestOutcome,
    /// More words; often none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// What an agent says about its own work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// What was done, in a few sentences.
    pub summary: String,
    /// How it ended.
    pub status: ReportStatus,
    /// The files that it says it changed.
    #[serde(default)]
    pub files_changed: Vec<String>,
    /// The commits that it says it made.
    #[serde(default)]
    pub commits: Vec<String>,
    /// The tests that it says it ran.
    #[serde(default)]
    pub tests: Vec<TestLine>,
    /// What it would do next.
    #[serde(default)]
    pub next_steps: Vec<String>,
    /// What it thinks of what others did, where it was asked for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// The list that it was asked for. An empty one is an answer, none is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Vec<String>>,
}

impl Report {
    /// The shape of a report as a JSON schema, in the strict form that all providers take: every field is required.
    pub const SCHEMA: &'static str = include_str!("schemas/report.json");

    /// The same, with what a stage of a workflow is asked to return beside it.
    pub const fn schema(returns: Returns) -> &'static str {
        match returns {
            Returns::Report => Self::SCHEMA,
            Returns::Verdict => include_str!("schemas/verdict.json"),
            Returns::List => include_str!("schemas/list.json"),
        }
    }
}

/// The longest summary that is kept, in bytes.
pub const LONGEST_SUMMARY: usize = 8 * 1024;
/// The longest path, name or sentence in a list that is kept, in bytes.
pub const LONGEST_ITEM: usize = 1024;
pub const MAX_ITEMS: usize = 500;
/// A report is at the end of an agent's text: only this many bytes before the end are searched.
const SEARCHED_TAIL: usize = 256 * 1024;

impl Report {
    pub fn new(status: ReportStatus, summary: impl Into<String>) -> Self {
        let (files_changed, commits, tests, next_steps) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (verdict, items) = (None, None);
        Self { summary: summary.into(), status, files_changed, commits, tests, next_steps, verdict, items }
    }

    /// The last report in a text: alone, in a fenced block, or amid prose.
    ///
    /// Lenient, because models write it: trailing commas, line breaks in strings, unknown fields, other words for
    /// a status and fields of a wrong type are no reason to lose what was said. A candidate must have a summary
    /// and something else of the contract, so that not every JSON object in an answer is taken for a report.
    pub fn find(text: &str) -> Option<Self> {
        let text = &text[text.ceil_char_boundary(text.len().saturating_sub(SEARCHED_TAIL))..];
        json::objects(text).filter_map(|object| read::report(&object)).last()
    }

    /// The same with every text and list cut to what is kept, for a report that came from elsewhere.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        shorten(&mut self.summary, LONGEST_SUMMARY);
        for list in [&mut self.files_changed, &mut self.commits, &mut self.next_steps] {
            list.truncate(MAX_ITEMS);
            for item in list {
                shorten(item, LONGEST_ITEM);
            }
        }
        self.tests.truncate(MAX_ITEMS);
        for test in &mut self.tests {
            shorten(&mut test.name, LONGEST_ITEM);
            shorten(&mut test.detail, LONGEST_ITEM);
        }
        if let Some(verdict) = &mut self.verdict {
            verdict.bound();
        }
        self
    }
}
