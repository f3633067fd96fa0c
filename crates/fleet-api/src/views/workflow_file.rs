//! How files of workflows are named, and what is said about them.

use std::path::Path;

use fleet_core::text::escaped;

use crate::prelude::*;

/// Which workflow is meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkflowSource {
    /// By its name in the repository, at home, or among those that come with codefleet; or by the path of its file.
    Named(String),
    /// A text, perhaps not by the user: it can have no commands, and name no files.
    Given {
        /// What it is called if it does not say so itself.
        name: String,
        /// The workflow.
        text: String,
        /// How it is written.
        #[serde(default)]
        format: FileFormat,
    },
}

impl WorkflowSource {
    /// Whether it is a name, and not the path of a file.
    pub fn is_name(text: &str) -> bool {
        let fits = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
        !text.is_empty() && text.chars().all(fits)
    }
}

/// How a file is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileFormat {
    Toml,
    Yaml,
    #[default]
    Json,
}

impl FileFormat {
    /// The ends of names, in the order in which they are looked for.
    pub const ENDS: [(&'static str, Self); 4] =
        [("toml", Self::Toml), ("yaml", Self::Yaml), ("yml", Self::Yaml), ("json", Self::Json)];

    /// What the name of a file says.
    pub fn of(path: &Path) -> Option<Self> {
        let end = path.extension()?.to_str()?;
        Self::ENDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(end)).map(|(_, format)| *format)
    }

    /// The usual end of a file's name.
    pub const fn end(self) -> &'static str {
        match self {
            Self::Toml => "toml",
            Self::Yaml => "yaml",
            Self::Json => "json",
        }
    }
}

/// Who wrote a workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkflowOrigin {
    /// It is one of the repository: `.fleet/workflows` in its work tree.
    Repository,
    /// It is one of the user: `workflows` in the home of codefleet.
    User,
    /// It comes with codefleet.
    Shipped,
    /// It was named by its path.
    Path,
    /// It was passed as a text, perhaps not by the user.
    Given,
}

/// What a workflow does not say itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Wants {
    /// Whether it needs a task.
    pub task: bool,
    /// The parameters that have no value.
    pub params: Vec<String>,
}

/// How bad a remark is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The workflow cannot run.
    Error,
    /// It can, but perhaps not here or not as meant.
    Warning,
}

/// One remark about a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The file, as it was named.
    pub file: String,
    /// The line, from 1; none where it is about the file as a whole.
    pub line: Option<usize>,
    /// The column in characters, from 1.
    pub column: Option<usize>,
    /// What is wrong, in one sentence.
    pub message: String,
    /// What to do, or what was probably meant.
    pub help: Vec<String>,
    /// The line itself, or the part of it around the place.
    pub source: Option<String>,
    /// Where the place is in `source`, in characters from 0.
    pub caret: usize,
}

impl Diagnostic {
    /// The place as compilers write it.
    pub fn place(&self) -> String {
        let numbers = [self.line, self.column].into_iter().flatten().map(|number| format!(":{number}"));
        format!("{}{}", escaped(&self.file), numbers.collect::<String>())
    }
}
