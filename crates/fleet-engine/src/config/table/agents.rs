//! What can be configured for each agent.
//!
//! A repository may say which model and how much effort its tasks deserve, within what the user lets an agent use. It must
//! never say what is started, with which arguments, variables or tool servers: those are run.

use fleet_agents::Trust;

use super::super::form::Form;
use super::super::keys::{Key, Kind, Scope};
use super::CAP;

pub(super) const AGENTS: &[Key] = &[
    of_agent(
        "agents.*.model",
        Kind::String(Form::Model),
        Scope::Anywhere,
        "The model that this agent uses unless the task names one.",
    ),
    of_agent(
        "agents.*.models",
        Kind::List(Form::ModelPattern),
        Scope::UserOnly,
        "The models that this agent may use, such as `gpt-5` or `gpt-5*`; empty for any.",
    ),
    of_agent(
        "agents.*.aliases",
        Kind::List(Form::Alias),
        Scope::UserOnly,
        "Short names of models for this agent, such as `fast=gpt-5-mini`.",
    ),
    of_agent(
        "agents.*.effort",
        Kind::String(Form::Word),
        Scope::Anywhere,
        "How hard the model should think, in the words of this agent.",
    ),
    of_agent(
        "agents.*.trust",
        Kind::OneOf(Trust::WORDS),
        Scope::Lowering("sandbox"),
        "What this agent may do without asking (`sandbox` if not set); a project can only lower it.",
    ),
    of_agent(
        "agents.*.cap",
        CAP,
        Scope::UserOnly,
        "How many runs of this agent there may be at a time; 0 for no cap.",
    ),
    of_agent(
        "agents.*.provider",
        Kind::String(Form::Word),
        Scope::UserOnly,
        "Whose service this agent uses, if that is not its usual one.",
    ),
    of_agent(
        "agents.*.account",
        Kind::String(Form::Word),
        Scope::UserOnly,
        "The account that this agent uses; agents of one provider and account are paused together.",
    ),
    of_agent(
        "agents.*.fallback",
        Kind::List(Form::AgentName),
        Scope::UserOnly,
        "Agents that may go on with a task of this agent, instead of those of `fallback`.",
    ),
    of_agent(
        "agents.*.program",
        Kind::String(Form::Program),
        Scope::UserOnly,
        "What is started: a name on the PATH, or a whole path.",
    ),
    of_agent(
        "agents.*.args",
        Kind::List(Form::Argument),
        Scope::UserOnly,
        "Arguments that are added behind ours; for an agent of your own, all of them.",
    ),
    of_agent(
        "agents.*.task_args",
        Kind::List(Form::Argument),
        Scope::UserOnly,
        "Options that a task may bring for this agent, by name or as `--beginning*`; any, if it has full trust.",
    ),
    of_agent(
        "agents.*.system_prompt",
        Kind::String(Form::Text),
        Scope::UserOnly,
        "Said to this agent before everything else: a text, or `@FILE`.",
    ),
    of_agent(
        "agents.*.mcp",
        Kind::String(Form::Path),
        Scope::UserOnly,
        "A JSON file with tool servers (`mcpServers`) that this agent gets beside its own.",
    ),
    of_agent(
        "agents.*.structured",
        Kind::Boolean,
        Scope::Anywhere,
        "Whether the last answer is held to the schema of a report, where the agent can do that.",
    ),
    of_agent(
        "agents.*.pass_env",
        Kind::List(Form::VariablePattern),
        Scope::UserOnly,
        "Variables of yours that this agent may see, by name or as `PREFIX_*`.",
    ),
    of_agent(
        "agents.*.env.*",
        Kind::String(Form::VariableValue),
        Scope::UserOnly,
        "A variable that is set for this agent.",
    ),
    of_agent(
        "agents.*.prompt",
        Kind::OneOf(&["stdin", "file"]),
        Scope::UserOnly,
        "How an agent of your own gets its task: on standard input, or in a file that `args` name.",
    ),
    of_agent(
        "agents.*.output",
        Kind::String(Form::AgentName),
        Scope::UserOnly,
        "What an agent of your own prints: `lines`, or as a known agent does, such as `claude` or `acp`.",
    ),
    of_agent(
        "agents.*.resume_args",
        Kind::List(Form::Argument),
        Scope::UserOnly,
        "Arguments with which an agent of your own goes on with a conversation, instead of `args`.",
    ),
    of_agent(
        "agents.*.args_read_only",
        Kind::List(Form::Argument),
        Scope::UserOnly,
        "Arguments of an agent of your own when it may change nothing.",
    ),
    of_agent(
        "agents.*.args_sandbox",
        Kind::List(Form::Argument),
        Scope::UserOnly,
        "Arguments of an agent of your own when it may work in its workspace.",
    ),
    of_agent(
        "agents.*.args_full",
        Kind::List(Form::Argument),
        Scope::UserOnly,
        "Arguments of an agent of your own when it may do anything.",
    ),
    of_agent(
        "agents.*.session_pattern",
        Kind::String(Form::Pattern),
        Scope::UserOnly,
        "A regular expression that finds the id of the conversation in a line.",
    ),
    of_agent(
        "agents.*.usage_pattern",
        Kind::String(Form::Pattern),
        Scope::UserOnly,
        "A regular expression with groups `input`, `output`, `cache_read` or `cost` that finds usage in a line.",
    ),
    of_agent(
        "agents.*.error_patterns",
        Kind::List(Form::ErrorPattern),
        Scope::UserOnly,
        "What lines of an agent of your own tell about failures, such as `rate_limited=429|slow down`.",
    ),
    of_agent(
        "agents.*.context_limit",
        Kind::Integer { min: 1_000, max: 100_000_000 },
        Scope::UserOnly,
        "How many tokens the model of this agent can hold.",
    ),
    of_agent(
        "agents.*.install",
        Kind::String(Form::Plain),
        Scope::UserOnly,
        "How an agent of your own is installed, for those who miss it.",
    ),
    of_agent(
        "agents.*.login",
        Kind::String(Form::Plain),
        Scope::UserOnly,
        "How one logs in to an agent of your own, for those whom it refused.",
    ),
];

/// No setting of an agent has a default: what it is without one is the adapter's to say.
const fn of_agent(name: &'static str, kind: Kind, scope: Scope, doc: &'static str) -> Key {
    Key { name, kind, default: None, doc, scope }
}
