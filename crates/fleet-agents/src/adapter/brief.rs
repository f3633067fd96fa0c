//! What an agent is to do, where, and how freely.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fleet_core::run::Meter;

#[derive(Debug, Clone, Copy)]
pub struct Brief<'a> {
    pub prompt: &'a str,
    /// The same in a file, for agents that read it there.
    pub prompt_file: &'a Path,
    pub workspace: &'a Path,
    /// Directories elsewhere that git writes to for this workspace: a sandbox has to let them be written.
    pub git_dirs: &'a [PathBuf],
    /// A private directory of this run, for settings that only this process may see.
    pub scratch: &'a Path,
    /// The model, if the task or the configuration names one.
    pub model: Option<&'a str>,
    /// How hard the model should think, in the agent's own words.
    pub effort: Option<&'a str>,
    pub conversation: Conversation<'a>,
    pub trust: Trust,
    /// How settings for this agent in the workspace are treated.
    pub repository_settings: RepositorySettings,
    /// Whether it will run as the superuser, which some agents refuse unless told otherwise.
    pub is_root: bool,
    /// A system prompt, passed in the agent's own way.
    pub system_prompt: Option<&'a str>,
    /// A JSON schema that its last answer has to fit, for agents that support one.
    pub schema: Option<&'a str>,
    /// Tool servers that it gets beside those of the user.
    pub mcp: &'a [McpServer],
    /// Arguments that the user adds, behind ours.
    pub extra_args: &'a [String],
    /// How long to wait for a silent provider, for agents that have such a setting.
    pub patience: Duration,
}

impl<'a> Brief<'a> {
    /// A task in a directory, and nothing else: what tests and questions about an agent start from.
    pub fn plain(prompt: &'a str, workspace: &'a Path) -> Self {
        Self {
            prompt,
            prompt_file: workspace,
            workspace,
            git_dirs: &[],
            scratch: workspace,
            model: None,
            effort: None,
            conversation: Conversation::New { id: None },
            trust: Trust::Sandbox,
            repository_settings: RepositorySettings::Absent,
            is_root: false,
            system_prompt: None,
            schema: None,
            mcp: &[],
            extra_args: &[],
            patience: PROVIDER_TIMEOUT,
        }
    }
}

/// The default wait for a silent provider: the built-in five minutes and more are too long for a person who waits.
const PROVIDER_TIMEOUT: Duration = Duration::from_mins(2);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conversation<'a> {
    /// A new one. The id, a UUID, is set where the agent lets us; elsewhere the agent makes its own.
    New { id: Option<&'a str> },
    Resume {
        /// The agent's own id of it.
        session: &'a str,
        /// The values of its counters, for agents that count over the whole conversation.
        meter: Meter,
    },
}

impl<'a> Conversation<'a> {
    pub const fn resumed(&self) -> Option<&'a str> {
        match self {
            Self::New { .. } => None,
            Self::Resume { session, .. } => Some(session),
        }
    }

    /// The values of the counters when this process began.
    pub fn meter(&self) -> Meter {
        match self {
            Self::New { .. } => Meter::default(),
            Self::Resume { meter, .. } => *meter,
        }
    }
}

/// Where an agent can resume a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resumes {
    Anywhere,
    /// Only in the directory in which the conversation began: elsewhere it does not find it, or goes back there to work.
    WhereItBegan,
}

/// What an agent may do without being asked. Each adapter maps it to the modes of its agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trust {
    ReadOnly,
    /// Edit files and run commands in its workspace, inside the agent's own sandbox if it has one that works there.
    Sandbox,
    Full,
}

impl Trust {
    pub const WORDS: &'static [&'static str] = &["read_only", "sandbox", "full"];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::Sandbox => "sandbox",
            Self::Full => "full",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "read_only" => Some(Self::ReadOnly),
            "sandbox" => Some(Self::Sandbox),
            "full" => Some(Self::Full),
            _ => None,
        }
    }
}

/// What happens to settings for an agent that come with a repository, such as hooks and tool servers: programs that it
/// starts, and rules that it loosens, because a file of the workspace says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepositorySettings {
    Absent,
    /// The user has not approved them: the agent starts without.
    LeftOut,
    /// They count, as they do when a user starts the agent by hand.
    Used,
}

/// A tool server that speaks the Model Context Protocol on its standard streams.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServer {
    pub name: String,
    pub command: String,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
}
