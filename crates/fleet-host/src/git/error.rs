//! What can go wrong with git.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("git is not installed, or not on the PATH; install it and try again")]
    NotInstalled,
    #[error("git cannot be started")]
    Start(#[source] io::Error),
    #[error("`git {command}` failed{}: {}", shown_code(*.code), shown_text(.stderr))]
    Failed {
        /// The command, without the settings that every command gets.
        command: String,
        /// The exit code; `None` when a signal ended it.
        code: Option<i32>,
        /// The last lines of git's standard error.
        stderr: String,
    },
    #[error(
        "`git {command}` did not end within {} s and was stopped; check for a hanging filter, network or disk",
        .after.as_secs()
    )]
    TimedOut { command: String, after: Duration },
    #[error("`git {command}` was stopped, as asked")]
    Stopped { command: String },
    #[error("`git {command}` wrote more than {limit} bytes")]
    TooMuchOutput { command: String, limit: usize },
    #[error("{} has more than {limit} files and folders", .path.display())]
    TooManyFiles { path: PathBuf, limit: u64 },
    #[error("`git {command}` gave an answer that cannot be read: {answer:?}")]
    Unexpected { command: String, answer: String },
    #[error("{has} is too old for {what}; install {needed} or newer")]
    TooOld { has: String, needed: &'static str, what: &'static str },
    /// The request itself is wrong; git was not run.
    #[error("{0}")]
    Refused(String),
    #[error("there is no commit {rev:?} in {}; `git log --all` shows what there is", .repo.display())]
    NoSuchCommit { rev: String, repo: PathBuf },
    #[error("{} has no commit yet; make a first one with `git commit`", .repo.display())]
    Unborn { repo: PathBuf },
    #[error("the branch {branch:?} cannot be made: {why}; choose another name")]
    BranchTaken { branch: String, why: String },
    /// The directory is not a checkout, or its link to the repository is broken.
    #[error("{} is not a git checkout: {why}", .path.display())]
    NotACheckout { path: PathBuf, why: String },
    #[error("cannot use {}", .path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("cannot write the output of git")]
    Write(#[source] io::Error),
}

/// What git and its transports say when something is not allowed or not there. A network that is down is not among them.
const REFUSALS: [&str; 7] = [
    "not allowed",
    "does not exist",
    "does not appear to be a git repository",
    "Permission denied",
    "Authentication failed",
    "could not read Username",
    "did not contain",
];

impl GitError {
    /// Whether there was too much to do: trying again would take as long, and end in the same way.
    pub fn is_too_much(&self) -> bool {
        matches!(self, Self::TimedOut { .. } | Self::TooMuchOutput { .. } | Self::TooManyFiles { .. })
    }

    /// Whether it stays so until a person changes something: trying again would end in the same way.
    pub fn needs_a_person(&self) -> bool {
        match self {
            Self::NoSuchCommit { .. } | Self::Unborn { .. } | Self::NotInstalled | Self::TooOld { .. } => {
                true
            }
            Self::Failed { stderr, .. } => REFUSALS.iter().any(|refusal| stderr.contains(refusal)),
            _ => false,
        }
    }

    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { path: path.to_owned(), source }
    }

    /// The lock that made git refuse, if one did. We run git in English.
    pub(super) fn lock_in_the_way(&self) -> Option<PathBuf> {
        let Self::Failed { stderr, .. } = self else { return None };
        let (_, rest) = stderr.split_once("Unable to create '")?;
        let (lock, _) = rest.split_once("': File exists")?;
        Some(PathBuf::from(lock)).filter(|lock| lock.extension().is_some_and(|end| end == "lock"))
    }
}

fn shown_code(code: Option<i32>) -> String {
    code.map_or_else(|| " (stopped by a signal)".to_owned(), |code| format!(" (exit code {code})"))
}

fn shown_text(stderr: &str) -> &str {
    if stderr.is_empty() { "it gave no reason" } else { stderr }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_size_is_not_tried_again() {
        let command = || "status".to_owned();
        for error in [
            GitError::TimedOut { command: command(), after: Duration::from_mins(10) },
            GitError::TooMuchOutput { command: command(), limit: 1 },
            GitError::TooManyFiles { path: "/w1".into(), limit: 1 },
        ] {
            assert!(error.is_too_much(), "{error}");
        }
        let full = io::Error::from(io::ErrorKind::StorageFull);
        for error in [
            GitError::Failed { command: command(), code: Some(128), stderr: String::new() },
            GitError::Write(full),
            GitError::Refused(String::new()),
        ] {
            assert!(!error.is_too_much(), "{error}");
        }
    }
}
