//! What a workflow says, however it was written.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Condition;
use crate::limits::Limits;
use crate::task::{AgentName, FieldError, ModelName};
use crate::text::escaped;
use crate::transition::{UnknownName, named};

pub const MAX_STAGES: usize = 500;
/// The most parts that it may come to, when stages with copies and lists are counted out.
pub const MAX_PARTS: usize = 1_000;
/// The longest prompt, in bytes, with the task, the parameters and its item filled in.
pub const LONGEST_PROMPT: usize = 256 * 1024;

named! {
    /// Where the branch of a stage starts.
    pub enum StageStart: "place to start from" {
        /// At the commit that the whole workflow starts from.
        New = "new",
        /// At what the stages that it needs have made, merged in order where they are several.
        Inherit = "inherit",
    }
}

named! {
    /// What happens when the inherited branches conflict.
    pub enum OnConflict: "way to meet conflicts" {
        /// The stage fails and names the files.
        Fail = "fail",
        /// Its agent starts with what could be merged, and has to merge the rest.
        Resolve = "resolve",
    }
}

named! {
    /// What a failed stage means for the others.
    pub enum OnFailure: "failure policy" {
        /// Nothing new is started, and the workflow fails when what runs is over.
        Fail = "fail",
        /// The stages that need it continue without it.
        Continue = "continue",
        /// The stages that need it, directly or not, are skipped; the others go on.
        SkipDependents = "skip_dependents",
    }
}

named! {
    /// Whether a stage has to change something.
    pub enum ChangeRule: "wish for changes" {
        /// It fails if git shows none, unless its agent says that none were needed.
        Required = "required",
        /// It may change something or only say something.
        Optional = "optional",
        None = "none",
    }
}

named! {
    /// What a stage is asked to return, beside its report.
    pub enum Returns: "kind of answer" {
        Report = "report",
        /// A verdict on what other stages did: approve, winner, scores.
        Verdict = "verdict",
        /// A list, over which a later stage can be spread.
        List = "list",
    }
}

/// The name of a stage: short, and fit for a branch, a file and a place in a prompt.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct StageName(String);

impl StageName {
    /// The longest one, in characters.
    pub const MAX_LENGTH: usize = 64;

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for StageName {
    type Error = FieldError;

    fn try_from(text: String) -> Result<Self, FieldError> {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if text.is_empty()
            || text.len() > Self::MAX_LENGTH
            || !text.chars().all(fits)
            || text.starts_with('-')
        {
            let why = format!(
                "\"{}\" is not a stage's name: letters, digits, - and _, at most {}",
                escaped(&text),
                Self::MAX_LENGTH
            );
            return Err(FieldError { field: "name", why });
        }
        Ok(Self(text))
    }
}

impl FromStr for StageName {
    type Err = FieldError;
    fn from_str(text: &str) -> Result<Self, FieldError> {
        text.to_owned().try_into()
    }
}

impl From<StageName> for String {
    fn from(name: StageName) -> Self {
        name.0
    }
}

impl fmt::Display for StageName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// How many parts a stage has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Copies {
    /// One.
    One,
    /// A number of copies: a competition.
    Count(u32),
    /// One for each of these texts.
    Each(Vec<String>),
    /// One for each entry of the list that this stage returned.
    EachOf(usize),
}

impl Copies {
    /// How many there are, if that is known before anything has run.
    pub fn count(&self) -> Option<usize> {
        match self {
            Self::One => Some(1),
            Self::Count(count) => usize::try_from(*count).ok(),
            Self::Each(items) => Some(items.len()),
            Self::EachOf(_) => None,
        }
    }
}

/// One stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// Its name; no other stage of the workflow has it.
    pub name: StageName,
    /// The stages that must be over first, by their place; in the order in which they are merged.
    #[serde(default)]
    pub needs: Vec<usize>,
    /// The prompt of its agent, with placeholders.
    pub prompt: String,
    /// Which agent; none is the configured default.
    #[serde(default)]
    pub agent: Option<AgentName>,
    /// Which model; none is the agent's default.
    #[serde(default)]
    pub model: Option<ModelName>,
    /// How hard the model is to think, in the agent's own words.
    #[serde(default)]
    pub effort: Option<String>,
    /// Further arguments for the agent's command.
    #[serde(default)]
    pub extra_args: Vec<String>,
    /// Where its branch starts.
    pub start: StageStart,
    /// What happens when what it inherits does not fit together.
    pub on_conflict: OnConflict,
    /// Whether it has to change something.
    pub changes: ChangeRule,
    /// What it returns.
    pub returns: Returns,
    /// Started only if this holds; skipped otherwise, which is no failure.
    #[serde(default)]
    pub when: Option<Condition>,
    /// How many parts it has.
    pub copies: Copies,
    /// How often a failed attempt is tried again; none is what is configured.
    #[serde(default)]
    pub retries: Option<u32>,
    /// What one attempt may use.
    #[serde(default)]
    pub limits: Limits,
    /// What follows for the others when it fails.
    pub on_failure: OnFailure,
    /// Commands that must succeed in its workspace before it counts as done, each by its arguments.
    #[serde(default)]
    pub checks: Vec<Vec<String>>,
}

impl Stage {
    /// A stage with a name and a prompt, and defaults for the rest.
    pub const fn new(name: StageName, prompt: String) -> Self {
        Self {
            name,
            needs: Vec::new(),
            prompt,
            agent: None,
            model: None,
            effort: None,
            extra_args: Vec::new(),
            start: StageStart::New,
            on_conflict: OnConflict::Fail,
            changes: ChangeRule::Required,
            returns: Returns::Report,
            when: None,
            copies: Copies::One,
            retries: None,
            limits: Limits { seconds: None, idle_seconds: None, tokens: None, micro_usd: None },
            on_failure: OnFailure::Fail,
            checks: Vec::new(),
        }
    }
}

/// A workflow, ready to run: parameters have their values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// What it is called.
    pub name: String,
    /// What all of it is for: `{task_prompt}`.
    pub task: String,
    /// The values of its parameters: `{params.NAME}`.
    #[serde(default)]
    pub params: BTreeMap<String, String>,
    /// Whether a failure also stops the stages that are at work.
    #[serde(default)]
    pub fail_fast: bool,
    /// The stages, in the order in which they were written.
    pub stages: Vec<Stage>,
}

impl Spec {
    pub fn find(&self, name: &str) -> Option<usize> {
        self.stages.iter().position(|stage| stage.name.as_str() == name)
    }

    /// Every stage that must be over before this one, directly or not. Only for a workflow that was checked.
    pub fn upstream(&self, stage: usize) -> Vec<usize> {
        let mut seen = vec![false; self.stages.len()];
        let mut next = vec![stage];
        while let Some(at) = next.pop() {
            for need in self.stages.get(at).map_or(&[][..], |stage| &stage.needs) {
                if seen.get(*need) == Some(&false) {
                    seen[*need] = true;
                    next.push(*need);
                }
            }
        }
        (0..seen.len()).filter(|at| seen[*at]).collect()
    }

    /// Every stage for which this one must be over, directly or not. Only for a workflow that was checked.
    pub fn downstream(&self, stage: usize) -> Vec<usize> {
        (0..self.stages.len()).filter(|at| self.upstream(*at).contains(&stage)).collect()
    }

    /// The stages that no other needs: their results are that of the workflow.
    pub fn last_stages(&self) -> Vec<usize> {
        let is_needed = |at: usize| self.stages.iter().any(|stage| stage.needs.contains(&at));
        (0..self.stages.len()).filter(|at| !is_needed(*at)).collect()
    }

    /// Whether a decision, and not only a prompt, looks at what this stage returned.
    pub fn decides(&self, stage: usize) -> bool {
        let Some(name) = self.stages.get(stage).map(|stage| stage.name.as_str()) else { return false };
        self.stages.iter().any(|other| {
            other.copies == Copies::EachOf(stage)
                || other.when.as_ref().is_some_and(|when| when.stages().contains(&name))
        })
    }
}
