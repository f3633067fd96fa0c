//! What a run changed, as git sees it.
//!
//! Compares with the point where the two histories part, so that what others did in the meantime is not counted.

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::checkout::Checkout;
use super::command::Git;
use super::error::GitError;
use super::oid::Oid;

/// How many commits and files are listed. More are counted: a reader of ten thousand lines reads totals.
const LISTED_COMMITS: usize = 1_000;
const LISTED_FILES: usize = 10_000;

/// What one commit has and another does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// What was compared with: where the histories part, or the base itself if they have nothing in common.
    pub base: Oid,
    pub head: Oid,
    /// The commits, newest first, up to a thousand.
    pub commits: Vec<CommitLine>,
    pub commits_total: u64,
    /// The files, in git's order, up to ten thousand.
    pub files: Vec<FileChange>,
    pub files_total: u64,
    pub added: u64,
    pub deleted: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitLine {
    pub oid: Oid,
    /// The first line of the message.
    pub subject: String,
}

/// A changed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    pub status: FileStatus,
    /// Its path, as bytes: a name need not be text.
    pub path: Vec<u8>,
    /// Its path before, if it was renamed or copied.
    pub old_path: Option<Vec<u8>>,
    /// Lines added; `None` for a binary file.
    pub added: Option<u64>,
    /// Lines deleted; `None` for a binary file.
    pub deleted: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileStatus {
    Added,
    /// Its content or mode changed.
    Modified,
    Deleted,
    /// It has another path, and much of the same content.
    Renamed,
    /// It has much of the content of another file.
    Copied,
    /// It is something else: a link instead of a file, for instance.
    TypeChanged,
}

impl FileStatus {
    fn parse(letter: u8) -> Option<Self> {
        Some(match letter {
            b'A' => Self::Added,
            b'M' => Self::Modified,
            b'D' => Self::Deleted,
            b'R' => Self::Renamed,
            b'C' => Self::Copied,
            b'T' => Self::TypeChanged,
            _ => return None,
        })
    }
}

/// What `head` has that `base` has not.
pub fn changes(repo: &Path, base: &Oid, head: &Oid) -> Result<Changes, GitError> {
    let from = comparison_base(repo, base, head)?;
    let commits = commits(repo, &from, head)?;
    compared(repo, (&from, head), commits)
}

/// The same for a commit whose only parent is `base`: git need not be asked for the histories.
pub fn changes_of_one(repo: &Path, base: &Oid, commit: CommitLine) -> Result<Changes, GitError> {
    let head = commit.oid.clone();
    compared(repo, (base, &head), (vec![commit], 1))
}

/// What `head` has that `from` has not, with the commits between them.
fn compared(
    repo: &Path,
    (from, head): (&Oid, &Oid),
    (commits, commits_total): (Vec<CommitLine>, u64),
) -> Result<Changes, GitError> {
    let mut files = DiffFiles::default();
    Git::about(repo)
        .args([
            "diff-tree",
            "-r",
            "-z",
            "-M",
            "--raw",
            "--numstat",
            "--no-ext-diff",
            "--ignore-submodules=none",
        ])
        .args([from.as_str(), head.as_str()])
        .records(&mut |record| files.take(record))?;
    Ok(Changes {
        base: from.clone(),
        head: head.clone(),
        commits,
        commits_total,
        files: files.changed,
        files_total: files.total,
        added: files.added,
        deleted: files.deleted,
    })
}

/// Where two histories part. Trees, and commits that share nothing, are compared as they are.
pub(super) fn comparison_base(repo: &Path, base: &Oid, head: &Oid) -> Result<Oid, GitError> {
    let answer = Git::about(repo).args(["merge-base", base.as_str(), head.as_str()]).answer()?;
    if answer.code == Some(0) { answer.oid() } else { Ok(base.clone()) }
}

fn commits(repo: &Path, base: &Oid, head: &Oid) -> Result<(Vec<CommitLine>, u64), GitError> {
    let (mut listed, mut total) = (Vec::new(), 0);
    Git::about(repo)
        .args(["log", "-z", "--no-show-signature", "--format=%H %s", "--end-of-options"])
        .arg(format!("{base}..{head}"))
        .records(&mut |record| {
            total += 1;
            if listed.len() < LISTED_COMMITS {
                listed.push(commit_line(record)?);
            }
            Ok(())
        })?;
    Ok((listed, total))
}

fn commit_line(record: &[u8]) -> Result<CommitLine, GitError> {
    let text = String::from_utf8_lossy(record);
    let (oid, subject) = text.split_once(' ').unwrap_or((&text, ""));
    let oid = Oid::parse(oid).map_err(|_| unexpected("log", record))?;
    Ok(CommitLine { oid, subject: subject.to_owned() })
}

/// Reads `--raw --numstat -z`: first what became of each file, then, in the same order, its lines.
#[derive(Debug, Default)]
struct DiffFiles {
    changed: Vec<FileChange>,
    total: u64,
    added: u64,
    deleted: u64,
    counted: u64,
    next: NextRecord,
}

/// What the next record is.
#[derive(Debug, Default)]
enum NextRecord {
    #[default]
    Header,
    Path(FileStatus),
    NewPath(FileStatus, Vec<u8>),
    /// The two paths of a renamed file that stand apart from its lines.
    Skip(u8),
}

impl DiffFiles {
    fn take(&mut self, record: &[u8]) -> Result<(), GitError> {
        match std::mem::take(&mut self.next) {
            NextRecord::Header => self.header(record)?,
            NextRecord::Path(status @ (FileStatus::Renamed | FileStatus::Copied)) => {
                self.next = NextRecord::NewPath(status, record.to_vec());
            }
            NextRecord::Path(status) => self.push(status, record, None),
            NextRecord::NewPath(status, old) => self.push(status, record, Some(old)),
            NextRecord::Skip(1) => {}
            NextRecord::Skip(left) => self.next = NextRecord::Skip(left - 1),
        }
        Ok(())
    }

    fn header(&mut self, record: &[u8]) -> Result<(), GitError> {
        if record.starts_with(b":") {
            let letter = record.rsplit(|byte| *byte == b' ').next().and_then(|word| word.first());
            let status = letter.and_then(|letter| FileStatus::parse(*letter));
            self.next = NextRecord::Path(status.ok_or_else(|| unexpected("diff-tree", record))?);
            return Ok(());
        }
        let mut fields = record.splitn(3, |byte| *byte == b'\t');
        let (Some(added), Some(deleted), Some(path)) = (fields.next(), fields.next(), fields.next()) else {
            return Err(unexpected("diff-tree", record));
        };
        if path.is_empty() {
            self.next = NextRecord::Skip(2);
        }
        self.count(number(added), number(deleted));
        Ok(())
    }

    fn push(&mut self, status: FileStatus, path: &[u8], old_path: Option<Vec<u8>>) {
        self.total += 1;
        if self.changed.len() < LISTED_FILES {
            let path = path.to_vec();
            self.changed.push(FileChange { status, path, old_path, added: None, deleted: None });
        }
    }

    fn count(&mut self, added: Option<u64>, deleted: Option<u64>) {
        self.added += added.unwrap_or(0);
        self.deleted += deleted.unwrap_or(0);
        let place = usize::try_from(self.counted).ok();
        if let Some(change) = place.and_then(|place| self.changed.get_mut(place)) {
            (change.added, change.deleted) = (added, deleted);
        }
        self.counted += 1;
    }
}

/// A number of lines; `-` stands for a binary file.
fn number(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn unexpected(command: &str, record: &[u8]) -> GitError {
    let answer = String::from_utf8_lossy(record).chars().take(200).collect();
    GitError::Unexpected { command: command.to_owned(), answer }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffStyle {
    /// All of it, as `git apply` reads it: files that are no text as well.
    Apply,
    /// A patch, to be read.
    Patch { color: DiffColor },
    Stat {
        /// In columns.
        width: u16,
        color: DiffColor,
    },
}

/// Whether text has escape sequences for colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffColor {
    /// For a terminal, in the colours that the user gave git.
    Always,
    Never,
}

/// Writes what `head`, a commit or a tree, has that `base` has not. The whole is never held in memory.
pub fn diff(
    repo: &Path,
    (base, head): (&Oid, &Oid),
    style: DiffStyle,
    out: &mut dyn io::Write,
) -> Result<(), GitError> {
    let from = comparison_base(repo, base, head)?;
    let (shape, color) = match style {
        DiffStyle::Apply => {
            (vec!["--patch".to_owned(), "--binary".to_owned(), "--full-index".to_owned()], DiffColor::Never)
        }
        DiffStyle::Patch { color } => (vec!["--patch".to_owned()], color),
        DiffStyle::Stat { width, color } => (vec![format!("--stat={}", width.max(20))], color),
    };
    let color = match color {
        DiffColor::Always => "--color=always",
        DiffColor::Never => "--color=never",
    };
    Git::about(repo)
        // What a person prefers to look at could not be applied.
        .setting("diff.noprefix=false")
        .setting("diff.mnemonicPrefix=false")
        .args([
            "diff",
            "--no-textconv",
            "--submodule=short",
            "--no-relative",
            "--no-ext-diff",
            "--find-renames",
        ])
        .args(["--ignore-submodules=none", color])
        .args(shape)
        .args([from.as_str(), head.as_str(), "--"])
        .feed(&mut |piece| out.write_all(piece).map_err(GitError::Write))
}

/// The tracked files of a checkout at these paths: those files, and all in those folders.
pub fn tracked_among(checkout: &Checkout, paths: &[String]) -> Result<HashSet<String>, GitError> {
    let mut tracked = HashSet::new();
    if paths.is_empty() {
        return Ok(tracked);
    }
    let git = Git::within(checkout).env("GIT_LITERAL_PATHSPECS", "1").args(["ls-files", "-z", "--"]);
    git.args(paths).records(&mut |path| {
        tracked.insert(String::from_utf8_lossy(path).into_owned());
        Ok(())
    })?;
    Ok(tracked)
}

/// How many files of a checkout are changed or new, and not committed; `None` if git does not say so in time.
pub fn uncommitted(checkout: &Checkout, patience: Duration) -> Option<usize> {
    let mut found = 0;
    let git = Git::within(checkout).patience(patience);
    // With only the name, a renamed file is one record, as every other.
    let git = git.args(["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=normal"]);
    let looked = git.records(&mut |_| {
        found += 1;
        Ok(())
    });
    looked.is_ok().then_some(found)
}
