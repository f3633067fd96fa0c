//! The description of an agent in the configuration, and its errors.

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
    /// `{new_session}` and `{system_prompt_file}` are replaced by the values of the run; `{{` is a brace. An argument
    /// with an empty placeholder is left out, together with the option in front of it if it is that option's value:
    /// `["--model", "{model}"]` is nothing when no model is asked for. So is `--model={model}`.
    pub args: Vec<String>,
    /// All of its arguments when a conversation is resumed; [`CustomSpec::args`] if not given.
    pub resume_args: Option<Vec<String>>,
    /// All of its arguments when its own interface is started in a terminal, in a new conversation or a resumed one; it
    /// has no such interface if not given.
    pub terminal_args: Option<Vec<String>>,
    /// Further arguments for each trust, in the order of [`crate::Trust::WORDS`].
    pub trust_args: [Vec<String>; 3],
    /// How it gets its prompt. If not given: like the agent that [`CustomSpec::output`] names, else on standard input.
    pub prompt: Option<PromptVia>,
    /// Its output format: `lines`, the default, or the name of an agent with the same format.
    pub output: Option<String>,
    /// Patterns to search for in lines, and in lines that a known agent would not print.
    pub patterns: OutputPatterns,
    /// The provider whose limits apply to its account; its own name if not given.
    pub provider: Option<String>,
    /// The arguments that make it print its version; not asked if empty.
    pub version_args: Vec<String>,
    pub install: Option<String>,
    pub login: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutputPatterns {
    /// Finds the id of the conversation: the group `session`, else the first group, else all that it matches.
    pub session: Option<String>,
    /// Finds usage since the line before, in the groups `input`, `output`, `cache_read`, `cache_write` (tokens) and
    /// `cost` (US dollars).
    pub usage: Option<String>,
    /// Find failures. Permanent failures of the provider stop the agent at once.
    pub errors: Vec<(Reason, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CustomError {
    #[error("the agent `{agent}` has no program: set `agents.{agent}.program`")]
    NoProgram { agent: String },
    /// An unknown name in braces.
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
