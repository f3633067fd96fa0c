use crate::Bytes;
use crate::prelude::*;

/// Shows what a run changed: its branch compared with where it started or, while it runs, its files as they are.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The run: its id, the id of its task, or its branch.
    pub id: String,
    /// A snapshot instead of the branch.
    pub snapshot: Option<SnapshotChoice>,
    /// Tell what is different in numbers and names.
    pub summary: bool,
    /// Show the difference itself, in this style.
    pub style: Option<Style>,
    /// `next` of the page before: the same two states are compared, whatever happens meanwhile.
    pub after: Option<String>,
    /// Maximum bytes of the difference, cut after a line if there is one; a million if left out.
    pub limit: Option<u32>,
}

/// Which snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SnapshotChoice {
    /// The last one.
    Newest,
    /// The one of this number.
    Number(u64),
}

/// How a difference is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// All of it, as `git apply` reads it: binary files as well.
    Apply,
    /// Line by line, to be looked at.
    Patch,
    /// One line for each file, in N columns.
    Stat(u16),
}

/// What is different.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// What is compared with the base; left out of later pages.
    pub of: Option<DiffSide>,
    /// In numbers and names, if that was asked for; left out of later pages.
    pub summary: Option<Summary>,
    /// A part of the difference, if that was asked for.
    pub text: Bytes,
    /// `after` of the next page; nothing on the last one.
    pub next: Option<String>,
}

/// What is compared with the base.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DiffSide {
    /// The branch.
    Branch,
    /// The files of the workspace, committed or not.
    Workspace,
    /// A snapshot, by its ref.
    Snapshot(String),
}

/// What is different, in numbers and names.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    pub run: RunId,
    pub branch: Option<String>,
    pub base: String,
    pub of: String,
    pub snapshot: Option<String>,
    pub commits: Vec<CommitView>,
    pub commit_count: u64,
    pub files: Vec<ChangedFile>,
    pub file_count: u64,
    pub added: u64,
    pub deleted: u64,
}

/// A commit.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CommitView {
    pub id: String,
    pub subject: String,
}

/// A changed file.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ChangedFile {
    pub status: String,
    pub path: String,
    pub old_path: Option<String>,
    /// Null for files that are not text.
    pub added: Option<u64>,
    pub deleted: Option<u64>,
}

verb!("run.diff", Request => Answer, Reads, Own, |request| vec![Subject::Run(&mut request.id)]);
