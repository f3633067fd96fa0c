//! What an agent is to do, where, and how freely.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fleet_core::run::Meter;

/// What an agent is to do, where, and how freely.
#[derive(Debug, Clone, Copy)]
pub struct Brief<'a> {
    /// The task as the agent gets it.
    pub prompt: &'a str,
    /// The same in a file, for agents that read it there.
    pub prompt_file: &'a Path,
    /// The directory it works in.
    pub workspace: &'a Path,
    /// Directories elsewhere that git writes to for this workspace: a sandbox has to let them be written.
    pub git_dirs: &'a [PathBuf],
    /// A private directory of this run, for settings that only this process is to see.
    pub scratch: &'a Path,
    /// The model, if the task or the configuration names one.
    pub model: Option<&'a str>,
    /// How hard the model should think, in the agent's own words.
    pub effort: Option<&'a str>,
    /// Whether this is a new conversation.
    pub conversation: Conversation<'a>,
    /// What it may do without being asked.
    pub trust: Trust,
    /// What becomes of the settings for this agent that the workspace brings.
    pub repository_settings: RepositorySettings,
    /// Whether it will run as the superuser, which some agents refuse unless told otherwise.
    pub is_root: bool,
    /// Said to the agent by the way that it has for standing orders.
    pub system_prompt: Option<&'a str>,
    /// A JSON schema that its last answer has to fit, for agents that can be held to one.
    pub schema: Option<&'a str>,
    /// Tool servers that it gets beside those of the user.
    pub mcp: &'a [McpServer],
    /// Arguments that the user adds, behind ours.
    pub extra_args: &'a [String],
    /// How long a provider that says nothing is waited for, where the agent can be told.
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
            patience: PATIENCE,
        }
    }
}

/// The usual patience with a silent provider: the built-in five minutes and more are too long for somebody who waits.
const PATIENCE: Duration = Duration::from_mins(2);

/// Which conversation a process takes part in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conversation<'a> {
    /// A new one. The id, a UUID, is set where the agent lets us; elsewhere the agent makes its own.
    New {
        /// The id.
        id: Option<&'a str>,
    },
    /// One that goes on.
    Resume {
        /// The agent's own id of it.
        session: &'a str,
        /// What its counters stood at, for agents that count over the whole conversation.
        meter: Meter,
    },
}

impl<'a> Conversation<'a> {
    /// The id of a conversation that goes on.
    pub const fn resumed(&self) -> Option<&'a str> {
        match self {
            Self::New { .. } => None,
            Self::Resume { session, .. } => Some(session),
        }
    }

    /// What the counters stood at when this process began.
    pub fn meter(&self) -> Meter {
        match self {
            Self::New { .. } => Meter::default(),
            Self::Resume { meter, .. } => *meter,
        }
    }
}

/// Where an agent can go on with a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resumes {
    /// In whatever directory it is started.
    Anywhere,
    /// Only in the directory in which the conversation began: elsewhere it does not find it, or goes back there to work.
    WhereItBegan,
}

/// What an agent may do without being asked. Each adapter maps it to the modes of its agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trust {
    /// Look, and change nothing.
    ReadOnly,
    /// Edit files and run commands in its workspace, inside the agent's own sandbox if it has one that works there.
    Sandbox,
    /// Anything that the user could do.
    Full,
}

impl Trust {
    /// Every word, in order.
    pub const WORDS: &'static [&'static str] = &["read_only", "sandbox", "full"];

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::Sandbox => "sandbox",
            Self::Full => "full",
        }
    }

    /// The trust of that word.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "read_only" => Some(Self::ReadOnly),
            "sandbox" => Some(Self::Sandbox),
            "full" => Some(Self::Full),
            _ => None,
        }
    }
}

/// What becomes of settings for an agent that come with a repository, such as hooks and tool servers: programs that it
/// starts, and rules that it loosens, because a file of the workspace says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepositorySettings {
    /// There are none.
    Absent,
    /// The user did not agree to them: the agent is started without.
    LeftOut,
    /// They count, as they do for somebody who starts the agent by hand.
    Used,
}

/// A tool server that speaks the Model Context Protocol on its standard streams.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServer {
    /// The name under which the agent knows it.
    pub name: String,
    /// What is started.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its variables.
    pub env: Vec<(String, String)>,
}
