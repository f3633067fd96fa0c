//! An agent run by itself, without codefleet: whether a scripted model satisfies it at all.

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::Value;

use super::Cli;
use crate::wait::becomes_true;

/// How an agent is run: headless, allowed everything, in its own directory and home.
#[derive(Debug, Clone)]
pub struct Direct {
    cli: Cli,
    program: PathBuf,
    base: String,
    home: PathBuf,
    cwd: PathBuf,
    session: Option<String>,
    more: Vec<String>,
    variables: Vec<(String, String)>,
    plan: bool,
}

#[derive(Debug, Clone)]
pub struct Ended {
    /// The exit status; 128 + the signal's number when a signal ended it.
    pub code: i32,
    /// The lines of its standard output that are JSON.
    pub events: Vec<Value>,
    pub stdout: String,
    pub stderr: String,
}

impl Direct {
    /// An agent of this program that talks to `base` (see [`crate::model::ModelServer::base`]), with directories
    /// `home` and `work` that are made in `place`.
    pub fn new(cli: Cli, program: PathBuf, base: String, place: &Path) -> Self {
        let (home, cwd) = (place.join("home"), place.join("work"));
        std::fs::create_dir_all(&cwd).expect("a directory to work in can be made");
        Self {
            cli,
            program,
            base,
            home,
            cwd,
            session: None,
            more: Vec::new(),
            variables: Vec::new(),
            plan: false,
        }
    }

    /// The same, talking to another address.
    #[must_use]
    pub fn asking(&self, base: String) -> Self {
        Self { base, ..self.clone() }
    }

    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// The same, going on with an earlier conversation.
    #[must_use]
    pub fn resuming(&self, session: &str) -> Self {
        Self { session: Some(session.to_owned()), ..self.clone() }
    }

    /// The same, with more arguments before the prompt.
    #[must_use]
    pub fn with(&self, arguments: &[&str]) -> Self {
        let more = arguments.iter().map(|&argument| argument.to_owned()).collect();
        Self { more, ..self.clone() }
    }

    /// The same, with one more variable in its environment.
    #[must_use]
    pub fn env(&self, name: &str, value: &str) -> Self {
        let mut changed = self.clone();
        changed.variables.push((name.to_owned(), value.to_owned()));
        changed
    }

    /// The same, logged in with a plan instead of a key (see [`super::on_a_plan`]).
    #[must_use]
    pub fn on_a_plan(&self) -> Self {
        Self { plan: true, ..self.clone() }
    }

    pub fn start(&self, prompt: &str) -> Running {
        let mut command = Command::new(&self.program);
        command.args(self.arguments(prompt)).current_dir(&self.cwd).env_clear();
        let environment = self.cli.environment(&self.base, &self.home);
        command
            .envs(if self.plan { super::on_a_plan(environment) } else { environment })
            .envs(unattended(self.cli).iter().copied());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("an installed agent can be started");
        let (stdout, stderr) = (Collected::from(child.stdout.take()), Collected::from(child.stderr.take()));
        Running { child, stdout, stderr }
    }

    #[track_caller]
    pub fn run(&self, prompt: &str, bound: Duration) -> Ended {
        self.start(prompt).wait(bound)
    }

    fn arguments(&self, prompt: &str) -> Vec<String> {
        let (before, resume, after): (&[&str], &[&str], &[&str]) = match self.cli {
            Cli::Claude => (
                &["-p", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"],
                &["--resume"],
                &["--"],
            ),
            Cli::Codex => (
                &["exec", "--json", "--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check"],
                &["resume"],
                &[],
            ),
            Cli::Gemini => (
                &["--output-format", "stream-json", "--yolo", "--skip-trust", "-m", "gemini-2.5-flash"],
                &["--resume"],
                &["-p"],
            ),
            Cli::Opencode => {
                (&["run", "--format", "json", "--auto", "-m", "fake/fake-model"], &["--session"], &["--"])
            }
        };
        let own = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        let session = self.session.iter().flat_map(|id| [own(resume), vec![id.clone()]].concat());
        let mut arguments = [own(before), self.more.clone()].concat();
        arguments.extend(session);
        arguments.extend(own(after));
        arguments.push(prompt.to_owned());
        arguments
    }
}

/// What a headless run needs of the environment.
fn unattended(cli: Cli) -> &'static [(&'static str, &'static str)] {
    match cli {
        // As root, claude asks nobody only if it is told that it cannot do harm.
        Cli::Claude => &[("IS_SANDBOX", "1")],
        // Otherwise it starts itself once more, and the first of the two ignores signals.
        Cli::Gemini => &[("GEMINI_CLI_NO_RELAUNCH", "true")],
        Cli::Codex | Cli::Opencode => &[],
    }
}

/// An agent at work, killed when dropped.
#[derive(Debug)]
pub struct Running {
    child: Child,
    stdout: Collected,
    stderr: Collected,
}

impl Running {
    /// What it has printed so far, in JSON.
    pub fn events(&self) -> Vec<Value> {
        events(&self.stdout.text())
    }

    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits for its end. Panics, with what it said, if that takes longer than `bound`.
    #[track_caller]
    pub fn wait(mut self, bound: Duration) -> Ended {
        let mut status = None;
        let ended = becomes_true(bound, || {
            status = self.child.try_wait().expect("a child can be waited for");
            status.is_some()
        });
        let Some(status) = status.filter(|_| ended) else {
            let (out, err) = (self.stdout.text(), self.stderr.text());
            panic!("still running after {bound:?}\nstdout:\n{out}\nstderr:\n{err}");
        };
        let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
        let (stdout, stderr) = (self.stdout.finish(bound), self.stderr.finish(bound));
        Ended { code, events: events(&stdout), stdout, stderr }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn events(stdout: &str) -> Vec<Value> {
    stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Far more than a test's agent says.
const LONGEST_OUTPUT: u64 = 16 * 1024 * 1024;

/// A stream that a thread reads.
#[derive(Debug)]
struct Collected {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Collected {
    fn from(stream: Option<impl Read + Send + 'static>) -> Self {
        let bytes = Arc::default();
        let kept: Arc<Mutex<Vec<u8>>> = Arc::clone(&bytes);
        let read = move |stream| {
            let mut stream = Read::take(stream, LONGEST_OUTPUT);
            let mut piece = [0; 8192];
            while let Ok(count @ 1..) = stream.read(&mut piece) {
                kept.lock().unwrap_or_else(PoisonError::into_inner).extend(&piece[..count]);
            }
        };
        Self { bytes, reader: stream.map(|stream| thread::spawn(move || read(stream))) }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }

    /// All of it. A process that the agent left may hold the stream open, and is not waited for longer than this.
    fn finish(&mut self, bound: Duration) -> String {
        if let Some(reader) = self.reader.take() {
            becomes_true(bound, || reader.is_finished());
        }
        self.text()
    }
}
