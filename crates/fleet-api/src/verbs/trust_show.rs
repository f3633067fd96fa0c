use crate::prelude::*;
use crate::views::SettingView;

/// Shows what the project of the directory requests, and whether the user approved it.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// What this workflow wants to run instead: its name, or its file.
    pub workflow: Option<String>,
}

/// What a repository requests, and only the user can approve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WishesView {
    /// The project: its git common dir.
    pub project: String,
    /// Settings: commands, copies of files, another agent, higher limits; each with its place in the project's file.
    pub commands: Vec<SettingView>,
    /// Files that agents act on, and templates of prompts.
    pub files: Vec<WishedFile>,
}

impl WishesView {
    /// Whether there is nothing to agree to.
    pub const fn is_empty(&self) -> bool {
        self.commands.is_empty() && self.files.is_empty()
    }
}

/// A file of a repository that needs consent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WishedFile {
    /// Where it is, below the work tree.
    pub path: String,
    /// Of its content; null if it cannot be approved: a link, a pipe, or too large.
    pub sha256: Option<String>,
}

/// What a project requests.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The project, the settings of its file and the files that need consent.
    #[serde(flatten)]
    pub asked: WishesView,
    /// Whether the user agreed to all of them. True when there are none.
    pub trusted: bool,
    /// The keys of the settings, and the paths of the files, that the user has not approved.
    pub untrusted: Vec<String>,
}

verb!("trust.show", Request => Answer, Reads, People);
