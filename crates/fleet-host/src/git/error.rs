//! What can go wrong with git.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why something could not be done with git.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no program `git`.
    #[error("git is not installed, or not on the PATH; install it and try again")]
    NotInstalled,
    /// Git is there but does not start.
    #[error("git cannot be started")]
    Start(#[source] io::Error),
    /// Git said no.
    #[error("`git {command}` failed{}: {}", shown_code(*.code), shown_text(.stderr))]
    Failed {
        /// The command as far as it says what was asked, without the settings that every command gets.
        command: String,
        /// The exit code; `None` when a signal ended it.
        code: Option<i32>,
        /// The last lines of what git wrote about it.
        stderr: String,
    },
    /// Git did not come to an end, and was stopped.
    #[error(
        "`git {command}` did not end within {} s and was stopped; look for a hanging filter, network or disk",
        .after.as_secs()
    )]
    TimedOut {
        /// The command, as above.
        command: String,
        /// How long it had.
        after: Duration,
    },
    /// Git wrote more than anything reasonable.
    #[error("`git {command}` wrote more than {limit} bytes")]
    TooMuchOutput {
        /// The command, as above.
        command: String,
        /// What it may write.
        limit: usize,
    },
    /// A work tree has more in it than can be looked at.
    #[error("{} has more than {limit} files and folders", .path.display())]
    TooManyFiles {
        /// The work tree.
        path: PathBuf,
        /// How many are looked at.
        limit: u64,
    },
    /// Git answered something that this code does not understand.
    #[error("`git {command}` gave an answer that cannot be read: {answer:?}")]
    Unexpected {
        /// The command, as above.
        command: String,
        /// The start of its answer.
        answer: String,
    },
    /// This git cannot do it yet.
    #[error("{has} is too old for {what}; install {needed} or newer")]
    TooOld {
        /// What it calls itself.
        has: String,
        /// The first version that can.
        needed: &'static str,
        /// What was wanted.
        what: &'static str,
    },
    /// The request itself is wrong, so that git was not even asked.
    #[error("{0}")]
    Refused(String),
    /// The text names no commit of the repository.
    #[error("there is no commit {rev:?} in {}; `git log --all` shows what there is", .repo.display())]
    NoSuchCommit {
        /// The text.
        rev: String,
        /// The repository.
        repo: PathBuf,
    },
    /// The repository has no commit to start from.
    #[error("{} has no commit yet; make a first one with `git commit`", .repo.display())]
    Unborn {
        /// The repository.
        repo: PathBuf,
    },
    /// The name of a branch is taken.
    #[error("the branch {branch:?} cannot be made: {why}; choose another name")]
    BranchTaken {
        /// The branch that was asked for.
        branch: String,
        /// What is in its way.
        why: String,
    },
    /// The directory is no checkout, or its connection to the repository is broken.
    #[error("{} is not a git checkout: {why}", .path.display())]
    NotACheckout {
        /// The directory.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A file or directory around git could not be used.
    #[error("cannot use {}", .path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// What git wrote could not be passed on.
    #[error("cannot write the output of git")]
    Write(#[source] io::Error),
}

impl GitError {
    /// Whether there was too much to do: trying again would take as long, and end in the same way.
    pub fn is_too_much(&self) -> bool {
        matches!(self, Self::TimedOut { .. } | Self::TooMuchOutput { .. } | Self::TooManyFiles { .. })
    }

    /// For `map_err` after something was tried with `path`.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { path: path.to_owned(), source }
    }

    /// The lock because of which git refused, if that is why. Git says so in English to us.
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
