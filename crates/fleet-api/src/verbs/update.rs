use crate::prelude::*;

/// Looks for a newer release, and says how this installation gets it. The only verb that asks the network.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {}

/// Which version there is, and what to do.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The version of this program.
    pub current: String,
    /// The newest release; null if `update.url` does not say where releases are listed.
    pub latest: Option<String>,
    /// Whether the newest release is newer than this program.
    pub is_newer: bool,
    /// How this program was installed.
    pub installed_by: InstalledBy,
    /// The program with its arguments that installs the newest release; empty if only a person can.
    pub command: Vec<String>,
    /// What a person has to do where no command can.
    pub advice: Vec<String>,
}

/// How a program was installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum InstalledBy {
    Cargo,
    Npm,
    Brew,
    Pip,
    Pipx,
    Uv,
    Apt,
    /// Built in a clone of the repository.
    Source,
    /// Unpacked from an archive, or copied.
    Archive,
}

impl InstalledBy {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cargo => "cargo",
            Self::Npm => "npm",
            Self::Brew => "brew",
            Self::Pip => "pip",
            Self::Pipx => "pipx",
            Self::Uv => "uv",
            Self::Apt => "apt",
            Self::Source => "source",
            Self::Archive => "archive",
        }
    }
}

verb!("update", Request => Answer, Reads, People);
