//! What is set for one agent, as what it is.
//!
//! Owns the conversion of `agents.NAME.*`. Must never know which agents there are, or what their settings do.

use std::collections::BTreeMap;

use fleet_agents::Trust;
use fleet_core::problem::Outcome;
use fleet_core::run::Reason;

use super::form;
use super::typed::{Reader, defect};

/// What is set for an agent; everything may be missing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentSettings {
    /// The model for tasks that name none.
    pub model: Option<String>,
    /// The models that it may use, by name or as the beginning of a name and `*`; none for any.
    pub models: Vec<String>,
    /// Short names of models.
    pub aliases: BTreeMap<String, String>,
    /// How hard the model should think.
    pub effort: Option<String>,
    /// What it may do without asking.
    pub trust: Option<Trust>,
    /// Whose service it uses.
    pub provider: Option<String>,
    /// Which account of its provider it uses.
    pub account: Option<String>,
    /// Who may go on with its tasks, instead of what is set for all agents.
    pub fallback: Option<Vec<String>>,
    /// What is started.
    pub program: Option<String>,
    /// Arguments behind those of the adapter.
    pub args: Vec<String>,
    /// Options that tasks may add.
    pub task_args: Vec<String>,
    /// Standing orders: a text, or `@` and a path.
    pub system_prompt: Option<String>,
    /// The file with its tool servers.
    pub mcp: Option<String>,
    /// Whether its last answer is held to a schema.
    pub structured: Option<bool>,
    /// What describes an agent that codefleet does not know.
    pub own: OwnAgent,
}

/// How an agent is used that only the configuration describes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnAgent {
    /// How it gets its task: `stdin` or `file`.
    pub prompt: Option<String>,
    /// What it prints: `lines`, or as the known agent of this name does.
    pub output: Option<String>,
    /// Its arguments when a conversation goes on.
    pub resume_args: Option<Vec<String>>,
    /// Further arguments for each trust, in the order of [`Trust::WORDS`].
    pub trust_args: [Vec<String>; 3],
    /// What finds the id of the conversation in a line.
    pub session_pattern: Option<String>,
    /// What finds usage in a line.
    pub usage_pattern: Option<String>,
    /// What tells of failures in a line.
    pub error_patterns: Vec<(Reason, String)>,
    /// How many tokens its model can hold.
    pub context_limit: Option<u64>,
    /// How it is installed.
    pub install: Option<String>,
    /// How one logs in.
    pub login: Option<String>,
}

impl AgentSettings {
    pub(super) fn read(reader: &Reader<'_>, agent: &str) -> Outcome<Self> {
        let named = Named { reader, agent };
        let aliases = named.list("aliases")?.unwrap_or_default();
        let trust = named.string("trust")?;
        Ok(Self {
            model: named.string("model")?,
            models: named.list("models")?.unwrap_or_default(),
            aliases: aliases.iter().filter_map(|text| form::alias(text)).map(owned).collect(),
            effort: named.string("effort")?,
            trust: trust.map(|word| Trust::parse(&word).ok_or_else(|| defect("trust"))).transpose()?,
            provider: named.string("provider")?,
            account: named.string("account")?,
            fallback: named.list("fallback")?,
            program: named.string("program")?,
            args: named.list("args")?.unwrap_or_default(),
            task_args: named.list("task_args")?.unwrap_or_default(),
            system_prompt: named.string("system_prompt")?,
            mcp: named.string("mcp")?,
            structured: reader.optional(&named.key("structured"), Reader::boolean)?,
            own: named.own()?,
        })
    }
}

/// The keys of one agent.
struct Named<'a> {
    reader: &'a Reader<'a>,
    agent: &'a str,
}

impl Named<'_> {
    fn own(&self) -> Outcome<OwnAgent> {
        let patterns = self.list("error_patterns")?.unwrap_or_default();
        let patterns = patterns.iter().filter_map(|text| form::error_pattern(text));
        let trust_args = |word: &str| Ok(self.list(&format!("args_{word}"))?.unwrap_or_default());
        Ok(OwnAgent {
            prompt: self.string("prompt")?,
            output: self.string("output")?,
            resume_args: self.list("resume_args")?,
            trust_args: [trust_args("read_only")?, trust_args("sandbox")?, trust_args("full")?],
            session_pattern: self.string("session_pattern")?,
            usage_pattern: self.string("usage_pattern")?,
            error_patterns: patterns.map(|(reason, pattern)| (reason, pattern.to_owned())).collect(),
            context_limit: self.reader.optional(&self.key("context_limit"), Reader::integer)?,
            install: self.string("install")?,
            login: self.string("login")?,
        })
    }

    fn key(&self, name: &str) -> String {
        format!("agents.{}.{name}", self.agent)
    }

    fn string(&self, name: &str) -> Outcome<Option<String>> {
        self.reader.optional(&self.key(name), Reader::string)
    }

    fn list(&self, name: &str) -> Outcome<Option<Vec<String>>> {
        self.reader.optional(&self.key(name), Reader::list)
    }
}

fn owned((short, model): (&str, &str)) -> (String, String) {
    (short.to_owned(), model.to_owned())
}
