//! What a description of an agent consists of, and what can be wrong with it.

use fleet_core::run::Reason;
use thiserror::Error;

use crate::adapter::PromptVia;

/// An agent as the configuration describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CustomSpec {
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
    pub install: Option<String>,
    pub login: Option<String>,
}

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

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CustomError {
    #[error("the agent `{agent}` has no program: set `agents.{agent}.program`")]
    NoProgram { agent: String },
    /// Something in braces that stands for nothing.
    #[error(
        "the argument `{argument}` of the agent `{agent}` has a `{{` that begins none of {known}: write `{{{{` \
         for a literal brace"
    )]
    Placeholder { agent: String, argument: String, known: String },
    /// The task is in a file that no argument names.
    #[error(
        "the agent `{agent}` is to read its task from a file, but its arguments do not name it: put \
         `{{prompt_file}}` in `agents.{agent}.args` (and in `resume_args`), or set `agents.{agent}.prompt = \"stdin\"`"
    )]
    PromptNowhere { agent: String },
    #[error(
        "the agent `{agent}` cannot print as `{output}` does: set `agents.{agent}.output` to lines, {known}"
    )]
    Output { agent: String, output: String, known: String },
    #[error("the pattern `{pattern}` of the agent `{agent}` is not a regular expression: {problem}")]
    Pattern { agent: String, pattern: String, problem: String },
    #[error(
        "the pattern `{pattern}` of the agent `{agent}` names no number: it needs a group such as `(?<input>[0-9,]+)`, \
         `output`, `cache_read`, `cache_write` or `cost`"
    )]
    NoGroup { agent: String, pattern: String },
}
