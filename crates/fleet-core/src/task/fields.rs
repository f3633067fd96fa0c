//! The fields of a task that a person or a program fills in, each checked when it is made.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::refname;
use crate::text::{escaped, is_unprintable};
use crate::transition::{UnknownName, named};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {why}")]
pub struct FieldError {
    /// The field, as on the command line and in JSON.
    pub field: &'static str,
    pub why: String,
}

/// A text that was checked once and is then known to be good.
macro_rules! text_types {
    ($($(#[$meta:meta])+ $type:ident, $field:literal, $check:expr;)+) => {$(
        $(#[$meta])+
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(try_from = "String", into = "String")]
        #[schemars(with = "String")]
        pub struct $type(String);

        impl $type {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $type {
            type Error = FieldError;
            fn try_from(text: String) -> Result<Self, FieldError> {
                let check: fn(&str) -> Result<(), String> = $check;
                match check(&text) {
                    Ok(()) => Ok(Self(text)),
                    Err(why) => Err(FieldError { field: $field, why }),
                }
            }
        }

        impl FromStr for $type {
            type Err = FieldError;
            fn from_str(text: &str) -> Result<Self, FieldError> {
                text.to_owned().try_into()
            }
        }

        impl From<$type> for String {
            fn from(value: $type) -> Self {
                value.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
    )+};
}

text_types! {
    /// The title.
    Title, "title", check_title;
    /// The rest of the prompt; may be empty, may have many lines.
    #[derive(Default)]
    Description, "description", check_description;
    /// What is said to an agent after its task was written; many lines, never nothing.
    PromptText, "prompt", check_prompt;
    /// A word to find tasks by.
    Label, "label", |text| check_word(text, 64);
    /// The name of an agent, as in the configuration.
    AgentName, "agent", check_agent;
    /// A model, in the agent's own words.
    ModelName, "model", check_model;
    /// The commit a task starts from: a branch, a tag, a hash.
    BaseRef, "base", |text| refname::check_revision(text).map_err(|error| error.to_string());
    /// The branch that a task's work goes to.
    BranchName, "branch", |text| refname::check_ref_name(text).map_err(|error| error.to_string());
    /// The name of a free metadata entry.
    MetaKey, "meta", |text| check_word(text, 64);
    /// The value of a free metadata entry.
    MetaValue, "meta", |text| at_most(text, 4_096);
    /// Why a person did something.
    Remark, "remark", |text| at_most(text, 2_000).and_then(|()| printable(text));
}

/// The longest title, in characters.
pub const LONGEST_TITLE: usize = 500;
/// The largest description, in bytes: far above any prompt, far below what would slow the store down.
const LARGEST_DESCRIPTION: usize = 1 << 20;
/// The largest message to an agent, in bytes: the log of a failed build fits, and delivery holds one in memory.
const LARGEST_PROMPT: usize = 16 << 20;

fn check_title(text: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        return Err("it is empty".to_owned());
    }
    let length = text.chars().count();
    if length > LONGEST_TITLE {
        return Err(format!(
            "it has {length} characters, at most {LONGEST_TITLE} are allowed: put the rest into the description"
        ));
    }
    if text.contains(['\n', '\r']) {
        return Err(format!(
            "\"{}\" has more than one line: put the rest into the description",
            escaped(text)
        ));
    }
    printable(text)
}

fn check_prompt(text: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        return Err("it is empty".to_owned());
    }
    check_long_text(text, LARGEST_PROMPT)
}

fn check_description(text: &str) -> Result<(), String> {
    check_long_text(text, LARGEST_DESCRIPTION)
}

fn check_long_text(text: &str, largest: usize) -> Result<(), String> {
    if text.contains('\0') {
        return Err("it contains a NUL character".to_owned());
    }
    if text.len() > largest {
        return Err(format!(
            "it has {} bytes, at most {largest} are allowed: put large material into a file of the repository and name that",
            text.len()
        ));
    }
    Ok(())
}

fn check_agent(text: &str) -> Result<(), String> {
    let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_';
    if text.is_empty() || text.len() > 32 || !text.bytes().all(fits) || text.starts_with(['-', '_']) {
        return Err(format!(
            "\"{}\" is not an agent's name: lower-case letters, digits, - and _, at most 32",
            escaped(text)
        ));
    }
    Ok(())
}

fn check_model(text: &str) -> Result<(), String> {
    if text.is_empty() || text.len() > 128 || text.starts_with('-') || text.contains(char::is_whitespace) {
        return Err(format!("\"{}\" is not a model's name", escaped(text)));
    }
    printable(text)
}

fn check_word(text: &str, longest: usize) -> Result<(), String> {
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '/' | '@' | '+' | '#');
    if text.is_empty() || text.chars().count() > longest || !text.chars().all(fits) || text.starts_with('-') {
        return Err(format!(
            "\"{}\" is not allowed: letters, digits and - _ . : / @ + #, at most {longest}, no spaces",
            escaped(text)
        ));
    }
    Ok(())
}

fn at_most(text: &str, longest: usize) -> Result<(), String> {
    if text.contains('\0') {
        return Err("it contains a NUL character".to_owned());
    }
    if text.len() > longest {
        return Err(format!("it has {} bytes, at most {longest} are allowed", text.len()));
    }
    Ok(())
}

fn printable(text: &str) -> Result<(), String> {
    if text.contains(is_unprintable) {
        return Err(format!("\"{}\" contains control characters", escaped(text)));
    }
    Ok(())
}

/// How urgent a task is: 5 is served first, 1 last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "i64", into = "i64")]
#[schemars(with = "i64")]
pub struct Priority(u8);

impl Priority {
    pub const fn get(self) -> i64 {
        self.0 as i64
    }
}

impl Default for Priority {
    fn default() -> Self {
        Self(3)
    }
}

impl TryFrom<i64> for Priority {
    type Error = FieldError;
    fn try_from(number: i64) -> Result<Self, FieldError> {
        match u8::try_from(number) {
            Ok(n @ 1..=5) => Ok(Self(n)),
            _ => Err(FieldError {
                field: "priority",
                why: format!("{number} is not between 1 and 5 (5 is served first)"),
            }),
        }
    }
}

impl From<Priority> for i64 {
    fn from(priority: Priority) -> Self {
        priority.get()
    }
}

named! {
    /// An estimate of a task's size.
    pub enum Complexity: "complexity" {
        /// Minutes.
        Trivial = "trivial",
        /// A small change.
        Small = "small",
        /// A usual change.
        Medium = "medium",
        /// Several places.
        Large = "large",
        /// Should perhaps be split.
        Xl = "xl",
    }
}

/// How a workspace is prepared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Setup {
    /// As it is configured: files are copied, ports leased, commands run.
    #[default]
    Full,
    /// Without running commands.
    Skip,
}

/// The labels of one task.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "BTreeSet<Label>", into = "BTreeSet<Label>")]
#[schemars(with = "BTreeSet<Label>")]
pub struct Labels(BTreeSet<Label>);

/// More would make every list unreadable.
const MAX_LABELS: usize = 32;

impl TryFrom<BTreeSet<Label>> for Labels {
    type Error = FieldError;
    fn try_from(labels: BTreeSet<Label>) -> Result<Self, FieldError> {
        if labels.len() > MAX_LABELS {
            let why = format!("{} labels, at most {MAX_LABELS} are allowed", labels.len());
            return Err(FieldError { field: "label", why });
        }
        Ok(Self(labels))
    }
}

impl From<Labels> for BTreeSet<Label> {
    fn from(labels: Labels) -> Self {
        labels.0
    }
}

impl Labels {
    /// The labels, sorted.
    pub fn iter(&self) -> impl Iterator<Item = &Label> {
        self.0.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why<T: FromStr<Err = FieldError> + fmt::Debug>(text: &str) -> String {
        text.parse::<T>().unwrap_err().to_string()
    }

    #[test]
    fn titles_are_one_printable_line() {
        assert!("Fix the parser – ünïcode 漢字 👍".parse::<Title>().is_ok());
        assert_eq!(why::<Title>(" \t"), "title: it is empty");
        assert_eq!(why::<Title>("a\u{1b}[31mb"), r#"title: "a\u{1b}[31mb" contains control characters"#);
        assert!(why::<Title>("one\ntwo").contains(r#""one\ntwo" has more than one line"#));
        assert!(why::<Title>(&"x".repeat(501)).contains("501 characters, at most 500"));
    }

    #[test]
    fn descriptions_are_bounded() {
        assert!("many\nlines\u{7}".parse::<Description>().is_ok());
        assert!(why::<Description>(&"x".repeat((1 << 20) + 1)).contains("1048577 bytes, at most 1048576"));
        assert!(why::<Description>("a\0b").contains("NUL"));
    }

    #[test]
    fn prompts_say_something_and_are_bounded() {
        assert!("\u{7}many\nlines".parse::<PromptText>().is_ok());
        assert!("x".repeat(LARGEST_PROMPT).parse::<PromptText>().is_ok());
        assert_eq!(why::<PromptText>(" \n\t"), "prompt: it is empty");
        assert!(why::<PromptText>(&"x".repeat(LARGEST_PROMPT + 1)).contains("bytes, at most 16777216"));
        assert!(why::<PromptText>("a\0b").contains("NUL"));
    }

    #[test]
    fn names_that_could_be_options_are_refused() {
        assert!("claude-2".parse::<AgentName>().is_ok());
        assert!("openai/gpt-5:high".parse::<ModelName>().is_ok());
        for wrong in ["", "-rf", "Claude", "a b", "a/b"] {
            assert!(wrong.parse::<AgentName>().is_err(), "{wrong:?} was accepted");
        }
        for wrong in ["", "-m", "a b", "a\nb"] {
            assert!(wrong.parse::<ModelName>().is_err(), "{wrong:?} was accepted");
        }
        assert!("area:core".parse::<Label>().is_ok());
        assert!("two words".parse::<Label>().is_err());
    }

    #[test]
    fn priorities_run_from_one_to_five() {
        assert_eq!(Priority::try_from(5).map(Priority::get), Ok(5));
        let error = Priority::try_from(9).unwrap_err().to_string();
        assert_eq!(error, "priority: 9 is not between 1 and 5 (5 is served first)");
        assert!(serde_json::from_str::<Priority>("0").is_err());
    }
}
