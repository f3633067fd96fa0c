use crate::prelude::*;

/// Writes the configuration file of the directory's repository, made for its type, for a team to commit.
#[derive(Debug, Clone, Copy, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The type of the project [default: detected by its files]
    #[arg(long = "type", value_enum, value_name = "TYPE")]
    #[serde(rename = "type")]
    pub kind: Option<ProjectType>,
    /// Replace a configuration file that is there; a backup is kept
    #[arg(long)]
    pub force: bool,
    /// Whether `.gitignore` gets what should not be committed.
    #[arg(skip)]
    pub gitignore: bool,
    /// Only show what would be written.
    #[arg(skip)]
    pub dry_run: bool,
}

/// What kind of project it is, which decides what its file begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProjectType {
    Rails,
    Node,
    Python,
    Rust,
    Go,
    /// None of these: the usual settings of a team, commented out
    Generic,
    /// Only the most important settings
    Minimal,
}

impl ProjectType {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Rails, Self::Node, Self::Python, Self::Rust, Self::Go, Self::Generic, Self::Minimal];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Rails => "rails",
            Self::Node => "node",
            Self::Python => "python",
            Self::Rust => "rust",
            Self::Go => "go",
            Self::Generic => "generic",
            Self::Minimal => "minimal",
        }
    }
}

/// What was written, or would be.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The file.
    pub path: String,
    #[serde(rename = "type")]
    pub kind: ProjectType,
    /// What is in it.
    pub text: String,
    /// Where the file is that was there before.
    pub backup: Option<String>,
    /// The lines that `.gitignore` gets, or should get; empty if it has them.
    pub gitignore: Vec<String>,
    /// Whether what it says applies only after `fleet trust`.
    pub needs_trust: bool,
    pub dry_run: bool,
}

verb!("init", Request => Answer, Adds, People);
