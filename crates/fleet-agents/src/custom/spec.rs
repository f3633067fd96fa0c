//! What a description of an agent consists of, and what can be wrong with it.

use fleet_core::run::Reason;
use thiserror::Error;

use crate::adapter::PromptVia;

/// An agent as the configuration describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CustomSpec {
    /// The name by which tasks choose it.
    pub name: String,
    /// What is started: a name on the `PATH`, or a whole path.
    pub program: String,
    /// All of its arguments. `{model}`, `{effort}`, `{prompt_file}`, `{workspace}`, `{scratch}`, `{session}`,
    /// `{new_session}` and `{system_prompt_file}` stand for what a run has; `{{` is a brace. An argument in which
    /// something stands for nothing is left out, together with the option in front of it if it is that option's
    /// value: `["--model", "{model}"]` is nothing when no model is asked for. So is `--model={model}`, without any
    /// doubt about what belongs together.
    pub args: Vec<String>,
    /// All of its arguments when a conversation goes on; [`CustomSpec::args`] if not given.
    pub resume_args: Option<Vec<String>>,
    /// Further arguments for each trust, in the order of [`crate::Trust::WORDS`].
    pub trust_args: [Vec<String>; 3],
    /// How it gets its task. If not given: as the agent does that [`CustomSpec::output`] names, else on standard
    /// input.
    pub prompt: Option<PromptVia>,
    /// What it prints: `lines`, which is usual, or the name of an agent that prints the same.
    pub output: Option<String>,
    /// What to look for in lines, and in what a known agent would not print.
    pub patterns: Patterns,
    /// Whose limits its account has; its own name if not given.
    pub provider: Option<String>,
    /// How to get it.
    pub install: Option<String>,
    /// How to log in.
    pub login: Option<String>,
}

/// Regular expressions that find what matters in a line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Patterns {
    /// Finds the id of the conversation: the group `session`, else the first group, else all that it matches.
    pub session: Option<String>,
    /// Finds usage since the line before, in the groups `input`, `output`, `cache_read`, `cache_write` (tokens) and
    /// `cost` (US dollars).
    pub usage: Option<String>,
    /// Find failures. Those of the provider that no further try gets over stop the agent at once.
    pub errors: Vec<(Reason, String)>,
}

/// What is wrong with a description, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CustomError {
    /// There is nothing to start.
    #[error("the agent `{agent}` has no program: set `agents.{agent}.program`")]
    NoProgram {
        /// Whose description it is.
        agent: String,
    },
    /// Something in braces that stands for nothing.
    #[error(
        "the argument `{argument}` of the agent `{agent}` has a `{{` that begins none of {known}: write `{{{{` for \
         a brace that is meant as one"
    )]
    Placeholder {
        /// Whose description it is.
        agent: String,
        /// The whole argument.
        argument: String,
        /// What there is.
        known: String,
    },
    /// The task is in a file that no argument names.
    #[error(
        "the agent `{agent}` is to read its task from a file, but its arguments do not name it: put \
         `{{prompt_file}}` in `agents.{agent}.args` (and in `resume_args`), or set `agents.{agent}.prompt = \"stdin\"`"
    )]
    PromptNowhere {
        /// Whose description it is.
        agent: String,
    },
    /// Output of an agent that is not known.
    #[error(
        "the agent `{agent}` cannot print as `{output}` does: set `agents.{agent}.output` to lines, {known}"
    )]
    Output {
        /// Whose description it is.
        agent: String,
        /// What it names.
        output: String,
        /// What there is.
        known: String,
    },
    /// A pattern that cannot be read.
    #[error("the pattern `{pattern}` of the agent `{agent}` is no regular expression: {problem}")]
    Pattern {
        /// Whose description it is.
        agent: String,
        /// The pattern.
        pattern: String,
        /// Why.
        problem: String,
    },
    /// A pattern that finds nothing of use.
    #[error(
        "the pattern `{pattern}` of the agent `{agent}` names no number: it needs a group such as `(?<input>[0-9,]+)`, \
         `output`, `cache_read`, `cache_write` or `cost`"
    )]
    NoGroup {
        /// Whose description it is.
        agent: String,
        /// The pattern.
        pattern: String,
    },
}
