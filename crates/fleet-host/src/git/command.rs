//! The one way in which git is run.
//!
//! Owns what every call has in common: no hooks, no prompts, no pager, no signing, no housekeeping, no colours, no
//! locks for mere reading, only the variables that git needs, bounded output and an end. A person's own
//! configuration counts apart from that (identity, filters, line ends, excluded files, transports). Must never be
//! gone around: a call that forgets one of these works on every machine but one.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::checkout::Checkout;
use super::error::GitError;
use super::oid::Oid;
use crate::child::{ExitedChild, Stopped, Until, read_until};
use crate::stop_flag::StopFlag;
use crate::{inherited, trace};

/// The longest output of a command with a short answer.
const SHORT_OUTPUT: usize = 1 << 20;

/// A safety net under commands that should be quick. Those that write whole trees get more.
const COMMAND_TIMEOUT: Duration = Duration::from_mins(10);

/// Settings of every call; on the command line they win over all files.
const SETTINGS: [&str; 24] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.sparseCheckout=false",
    "core.splitIndex=false",
    // What git takes for its own on other systems is for people there, too.
    "core.protectHFS=true",
    "core.protectNTFS=true",
    // What an agent may have set in order to make git quicker must not hide a change from us.
    "core.trustctime=true",
    "core.checkStat=default",
    "core.ignoreStat=false",
    // With `true`, a file with mixed line ends could not be saved at all.
    "core.safecrlf=false",
    "core.quotePath=false",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "worktree.useRelativePaths=false",
    "checkout.guess=false",
    // Workers pay only where thousands of files are written.
    "checkout.workers=0",
    "checkout.thresholdForParallelism=1000",
    "color.ui=false",
    "i18n.commitEncoding=UTF-8",
    "i18n.logOutputEncoding=UTF-8",
    "advice.detachedHead=false",
];

#[derive(Debug)]
pub(super) struct Git {
    /// Where it runs, and which repository it is about.
    settings: Vec<OsString>,
    environment: Vec<(&'static str, OsString)>,
    args: Vec<OsString>,
    stdin: Stdio,
    patience: Duration,
    stop: Option<StopFlag>,
    transports: Transports,
}

/// Whether a command may fetch, from any place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transports {
    None,
    /// None by git itself. Filters write files, and such as Git LFS fetch them.
    Filters,
    /// Those that the user's own configuration allows.
    Users,
}

/// The output of a command, successful or not.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) command: String,
    pub(super) code: Option<i32>,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: String,
}

impl Git {
    /// About the repository whose git directory is `git_dir`; it must not touch files of a checkout.
    ///
    /// The repository is always named, never searched for: a search in a directory that lost its `.git` would end
    /// in whatever repository is above, and change that.
    pub(super) fn about(git_dir: &Path) -> Self {
        Self::new(git_dir).env("GIT_DIR", git_dir)
    }

    /// About a checkout and its files.
    ///
    /// A linked worktree's repository is named, too. Git would read it from a file that an agent can write at any
    /// moment, and with it the settings, filters among them, which are programs that git runs as we do.
    pub(super) fn within(checkout: &Checkout) -> Self {
        let git = Self::new(&checkout.work_tree)
            .env("GIT_DIR", &checkout.git_dir)
            .env("GIT_WORK_TREE", &checkout.work_tree);
        if checkout.git_dir == checkout.common_dir {
            return git;
        }
        git.env("GIT_COMMON_DIR", &checkout.common_dir)
    }

    /// As a person would run it in the directory, for the commands that do not take the repository by name. Never
    /// finds a repository above the directory.
    pub(super) fn standing_in(directory: &Path) -> Self {
        let above = directory.parent().unwrap_or(directory);
        Self::new(directory).env("GIT_CEILING_DIRECTORIES", above)
    }

    fn new(directory: &Path) -> Self {
        // As an option: a missing directory is then git's error, not mistaken for a missing git.
        let settings = vec!["-C".into(), directory.into()];
        Self {
            settings,
            environment: Vec::new(),
            args: Vec::new(),
            stdin: Stdio::null(),
            patience: COMMAND_TIMEOUT,
            stop: None,
            transports: Transports::None,
        }
    }

    pub(super) fn env(mut self, name: &'static str, value: impl AsRef<OsStr>) -> Self {
        self.environment.push((name, value.as_ref().to_owned()));
        self
    }

    /// As `name=value`.
    pub(super) fn setting(mut self, setting: &str) -> Self {
        self.settings.extend(["-c".into(), setting.into()]);
        self
    }

    /// For the few commands that may fetch. All others never do: neither objects that a repository left out, nor
    /// anything else, whatever its configuration says.
    pub(super) fn with_transports(mut self) -> Self {
        self.transports = Transports::Users;
        self
    }

    /// For the commands that write files: git itself fetches nothing, but a filter of the user's may.
    pub(super) fn with_filters(mut self) -> Self {
        self.transports = Transports::Filters;
        self
    }

    /// Uses another index than the checkout's own.
    pub(super) fn index(self, file: &Path) -> Self {
        self.env("GIT_INDEX_FILE", file)
    }

    /// Arguments. Callers put `--` or `--end-of-options` before a name.
    pub(super) fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    pub(super) fn arg(self, arg: impl AsRef<OsStr>) -> Self {
        self.args([arg])
    }

    /// What the command reads. A locked file stays locked until the command, too, has ended.
    pub(super) fn stdin(mut self, file: File) -> Self {
        self.stdin = file.into();
        self
    }

    /// For commands that write whole trees, or wait for a network.
    pub(super) fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Ends the command, and all that it started, when the flag is set. Only for commands whose half-done work is thrown
    /// away.
    pub(super) fn stop_flag(mut self, flag: &StopFlag) -> Self {
        self.stop = Some(flag.clone());
        self
    }

    pub(super) fn run(self) -> Result<(), GitError> {
        self.answer()?.succeeded().map(drop)
    }

    /// Runs it and returns what it wrote.
    pub(super) fn bytes(self) -> Result<Vec<u8>, GitError> {
        self.answer()?.succeeded()
    }

    /// Runs it and returns the name of an object that it wrote.
    pub(super) fn oid(self) -> Result<Oid, GitError> {
        self.answer()?.oid()
    }

    /// Runs a command whose failure is an answer, too.
    pub(super) fn answer(self) -> Result<Answer, GitError> {
        let command = self.shown();
        let mut stdout = Vec::new();
        let ended = self.stream(&mut |piece| {
            stdout.extend_from_slice(piece);
            if stdout.len() > SHORT_OUTPUT {
                return Err(GitError::TooMuchOutput { command: command.clone(), limit: SHORT_OUTPUT });
            }
            Ok(())
        })?;
        Ok(Answer { command, code: ended.status.code(), stdout, stderr: ended.stderr })
    }

    /// Runs it, expects success, and passes its output on in pieces.
    pub(super) fn feed(self, sink: &mut dyn FnMut(&[u8]) -> Result<(), GitError>) -> Result<(), GitError> {
        let command = self.shown();
        let ended = self.stream(sink)?;
        let answer = Answer { command, code: ended.status.code(), stdout: Vec::new(), stderr: ended.stderr };
        answer.succeeded().map(drop)
    }

    /// Runs it, expects success, and hands on its output record by record, as `-z` separates them.
    pub(super) fn records(self, each: &mut dyn FnMut(&[u8]) -> Result<(), GitError>) -> Result<(), GitError> {
        let command = self.shown();
        let mut open = Vec::new();
        self.feed(&mut |piece| {
            let mut parts = piece.split(|byte| *byte == 0);
            let last = parts.next_back().unwrap_or_default();
            for part in parts {
                open.extend_from_slice(part);
                each(&open)?;
                open.clear();
            }
            open.extend_from_slice(last);
            // Longer than any path: without this bound a missing separator would fill the memory.
            if open.len() > SHORT_OUTPUT {
                return Err(GitError::TooMuchOutput { command: command.clone(), limit: SHORT_OUTPUT });
            }
            Ok(())
        })
    }

    #[expect(clippy::disallowed_methods, reason = "this crate is the home of processes")]
    fn stream(self, sink: &mut dyn FnMut(&[u8]) -> Result<(), GitError>) -> Result<ExitedChild, GitError> {
        let shown = self.shown();
        let _span = trace::span(|| format!("git {shown}"));
        let mut command = Command::new(inherited::git());
        command.arg("--no-pager");
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        command
            .env_clear()
            .envs(self.transports.inherited())
            .args(self.settings)
            .args(self.args)
            .envs([("GIT_TERMINAL_PROMPT", "0"), ("GIT_OPTIONAL_LOCKS", "0"), ("LC_ALL", "C")])
            .envs(self.transports.environment().iter().copied())
            .envs(self.environment)
            .stdin(self.stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A Ctrl-C in the terminal is for us: git would leave half a checkout and its locks.
            .process_group(0);
        let child = command.spawn().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => GitError::NotInstalled,
            _ => GitError::Start(error),
        })?;
        // The command keeps our end of what the child reads, for instance a lock.
        drop(command);
        let until = Until { patience: self.patience, flag: self.stop.as_ref() };
        read_until(child, until, sink).map_err(|stopped| match stopped {
            Stopped::Flag => GitError::Stopped { command: shown },
            Stopped::Deadline => GitError::TimedOut { command: shown, after: self.patience },
            Stopped::Io(error) => GitError::Start(error),
            Stopped::Sink(error) => error,
        })
    }

    fn shown(&self) -> String {
        let words: Vec<_> = self.args.iter().map(|arg| arg.to_string_lossy()).collect();
        let line = words.join(" ");
        match line.char_indices().nth(300) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line,
        }
    }
}

impl Transports {
    fn environment(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::None | Self::Filters => &[("GIT_NO_LAZY_FETCH", "1"), ("GIT_ALLOW_PROTOCOL", "")],
            Self::Users => &[],
        }
    }

    fn inherited(self) -> Vec<(OsString, OsString)> {
        match self {
            Self::None => inherited::local().collect(),
            Self::Filters | Self::Users => inherited::with_network().collect(),
        }
    }
}

impl Answer {
    /// The output, if the command succeeded.
    pub(super) fn succeeded(self) -> Result<Vec<u8>, GitError> {
        if self.code == Some(0) { Ok(self.stdout) } else { Err(self.failure()) }
    }

    /// The error that this answer means.
    pub(super) fn failure(self) -> GitError {
        GitError::Failed { command: self.command, code: self.code, stderr: self.stderr }
    }

    /// The name of an object that was written.
    pub(super) fn oid(self) -> Result<Oid, GitError> {
        let command = self.command.clone();
        oid_of(&command, &self.succeeded()?)
    }
}

pub(super) fn oid_of(command: &str, answer: &[u8]) -> Result<Oid, GitError> {
    let text = String::from_utf8_lossy(answer);
    Oid::parse(text.trim()).map_err(|_| GitError::Unexpected {
        command: command.to_owned(),
        answer: text.chars().take(200).collect(),
    })
}
