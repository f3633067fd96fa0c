use crate::prelude::*;

/// Registers our tool server in the settings of a program, or unregisters it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Whose settings.
    pub client: SetupClient,
    /// The client.
    pub scope: SetupScope,
    /// Register, or take back.
    pub wish: SetupAction,
    /// Whether another program's entry may be replaced.
    #[serde(default)]
    pub force: bool,
    /// Only show what would change.
    #[serde(default)]
    pub dry_run: bool,
}

/// The name under which our tool server is registered.
pub const NAME: &str = "codefleet";

/// A program that uses tool servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SetupClient {
    Claude,
    Codex,
    Gemini,
    Opencode,
}

impl SetupClient {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Claude, Self::Codex, Self::Gemini, Self::Opencode];

    /// The name of the program.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
        }
    }
}

/// The client that it is registered for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SetupScope {
    /// In all your projects
    User,
    /// In this repository, for all its users
    Project,
}

/// Register, or take back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SetupAction {
    /// Register.
    Add,
    /// Take it back.
    Remove,
}

/// Its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SetupOutcome {
    /// It is new.
    Added,
    /// It was there, for another binary or another home.
    Updated,
    /// It was there.
    Unchanged,
    /// It is gone.
    Removed,
    /// It was not there.
    Absent,
}

/// The result of a request.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// Whose settings.
    pub client: SetupClient,
    /// The client.
    pub scope: SetupScope,
    /// The file.
    pub file: String,
    /// What was done, or would be.
    pub done: SetupOutcome,
    /// What the client starts.
    pub command: Vec<String>,
    /// The lines that change: `-` what goes, `+` what comes.
    pub changes: Vec<String>,
    /// Whether nothing was changed on purpose.
    pub dry_run: bool,
}

verb!("setup", Request => Answer, Adds, People);
