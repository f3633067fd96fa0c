//! How an agent's process is started.

use std::borrow::Cow;
use std::path::PathBuf;

/// How an agent's process is to be started. A plan holds no secret: those come from the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchPlan {
    pub program: Program,
    /// Its arguments; never passed through a shell, and never holding the prompt.
    pub args: Vec<String>,
    pub prompt: PromptVia,
    /// Variables that it needs to run unattended.
    pub env: Vec<(String, String)>,
    /// Variables of the user that this vendor's agent may see, such as its key. `PREFIX_*` means all with this prefix.
    pub pass_env: Vec<Cow<'static, str>>,
    /// Files that have to be there before it starts, all of them below [`super::Brief::scratch`].
    pub files: Vec<PlannedFile>,
    /// What is tried before the process is terminated, so that it still reports what it did.
    pub ask: Option<Ask>,
}

impl LaunchPlan {
    /// A program that reads its prompt from standard input and needs nothing else.
    pub const fn new(program: Program) -> Self {
        Self {
            program,
            args: Vec::new(),
            prompt: PromptVia::Stdin,
            env: Vec::new(),
            pass_env: Vec::new(),
            files: Vec::new(),
            ask: None,
        }
    }

    pub(crate) fn arg(&mut self, args: &[&str]) {
        self.args.extend(args.iter().map(|&arg| arg.to_owned()));
    }

    /// Adds an option with its value, where there is one.
    pub(crate) fn option(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.arg(&[name, value]);
        }
    }

    pub(crate) fn var(&mut self, name: &str, value: impl Into<String>) {
        self.env.push((name.to_owned(), value.into()));
    }

    /// Lets these variables of the user pass.
    pub(crate) fn pass(&mut self, names: &'static [&'static str]) {
        self.pass_env.extend(names.iter().map(|&name| Cow::Borrowed(name)));
    }
}

/// A file that belongs to a plan: settings of one run, instead of changes to those of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedFile {
    /// Where, below [`super::Brief::scratch`].
    pub path: PathBuf,
    pub content: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// The first of this name on the `PATH`, or this very file when the name has a `/`.
    OnPath(Cow<'static, str>),
    /// The running binary itself.
    This,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptVia {
    /// The prompt is its whole standard input: without a limit of length, and invisible in a list of processes.
    Stdin,
    /// The arguments name the file that holds it; standard input is empty.
    File,
    /// Standard input stays open, and the decoder writes to it, see [`super::Decoder::reply`].
    Dialogue,
    /// It is typed into the agent's terminal, once the agent takes input.
    Terminal,
}

/// A gentle way to ask an agent to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// SIGINT, as Ctrl-C does.
    Interrupt,
    /// SIGHUP, as a terminal that goes away does.
    HangUp,
    /// In the words of its protocol, see [`super::Decoder::interrupt`].
    Say,
}
