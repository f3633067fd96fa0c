//! What every adapter can do.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fleet_core::outcome::AgentExit;
use fleet_core::run::Reason;

use crate::event::{AgentEvent, Meter, When};

/// What an agent is to do, where, and how freely.
#[derive(Debug, Clone, Copy)]
pub struct Brief<'a> {
    /// The task as the agent gets it.
    pub prompt: &'a str,
    /// The same in a file, for agents that read it there.
    pub prompt_file: &'a Path,
    /// The directory it works in.
    pub workspace: &'a Path,
    /// Directories elsewhere that git writes to for this workspace: a sandbox has to let them be written.
    pub git_dirs: &'a [PathBuf],
    /// A private directory of this run, for settings that only this process is to see.
    pub scratch: &'a Path,
    /// The model, if the task or the configuration names one.
    pub model: Option<&'a str>,
    /// How hard the model should think, in the agent's own words.
    pub effort: Option<&'a str>,
    /// Whether this is a new conversation.
    pub conversation: Conversation<'a>,
    /// What it may do without being asked.
    pub trust: Trust,
    /// What becomes of the settings for this agent that the workspace brings.
    pub repository_settings: RepositorySettings,
    /// Whether it will run as the superuser, which some agents refuse unless told otherwise.
    pub is_root: bool,
    /// Said to the agent by the way that it has for standing orders.
    pub system_prompt: Option<&'a str>,
    /// A JSON schema that its last answer has to fit, for agents that can be held to one.
    pub schema: Option<&'a str>,
    /// Tool servers that it gets beside those of the user.
    pub mcp: &'a [McpServer],
    /// Arguments that the user adds, behind ours.
    pub extra_args: &'a [String],
    /// How long a provider that says nothing is waited for, where the agent can be told.
    pub patience: Duration,
}

impl<'a> Brief<'a> {
    /// A task in a directory, and nothing else: what tests and questions about an agent start from.
    pub fn plain(prompt: &'a str, workspace: &'a Path) -> Self {
        Self {
            prompt,
            prompt_file: workspace,
            workspace,
            git_dirs: &[],
            scratch: workspace,
            model: None,
            effort: None,
            conversation: Conversation::New { id: None },
            trust: Trust::Sandbox,
            repository_settings: RepositorySettings::Absent,
            is_root: false,
            system_prompt: None,
            schema: None,
            mcp: &[],
            extra_args: &[],
            patience: PATIENCE,
        }
    }
}

/// The usual patience with a silent provider: the built-in five minutes and more are too long for somebody who waits.
const PATIENCE: Duration = Duration::from_mins(2);

/// Which conversation a process takes part in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conversation<'a> {
    /// A new one. The id, a UUID, is set where the agent lets us; elsewhere the agent makes its own.
    New {
        /// The id.
        id: Option<&'a str>,
    },
    /// One that goes on.
    Resume {
        /// The agent's own id of it.
        session: &'a str,
        /// What its counters stood at, for agents that count over the whole conversation.
        meter: Meter,
    },
}

impl<'a> Conversation<'a> {
    /// The id of a conversation that goes on.
    pub const fn resumed(&self) -> Option<&'a str> {
        match self {
            Self::New { .. } => None,
            Self::Resume { session, .. } => Some(session),
        }
    }

    /// What the counters stood at when this process began.
    pub fn meter(&self) -> Meter {
        match self {
            Self::New { .. } => Meter::default(),
            Self::Resume { meter, .. } => *meter,
        }
    }
}

/// Where an agent can go on with a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resumes {
    /// In whatever directory it is started.
    Anywhere,
    /// Only in the directory in which the conversation began: elsewhere it does not find it, or goes back there to work.
    WhereItBegan,
}

/// What an agent may do without being asked. Each adapter maps it to the modes of its agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trust {
    /// Look, and change nothing.
    ReadOnly,
    /// Edit files and run commands in its workspace, inside the agent's own sandbox if it has one that works there.
    Sandbox,
    /// Anything that the user could do.
    Full,
}

impl Trust {
    /// Every word, in order.
    pub const WORDS: &'static [&'static str] = &["read_only", "sandbox", "full"];

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::Sandbox => "sandbox",
            Self::Full => "full",
        }
    }

    /// The trust of that word.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "read_only" => Some(Self::ReadOnly),
            "sandbox" => Some(Self::Sandbox),
            "full" => Some(Self::Full),
            _ => None,
        }
    }
}

/// What becomes of settings for an agent that come with a repository, such as hooks and tool servers: programs that it
/// starts, and rules that it loosens, because a file of the workspace says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepositorySettings {
    /// There are none.
    Absent,
    /// The user did not agree to them: the agent is started without.
    LeftOut,
    /// They count, as they do for somebody who starts the agent by hand.
    Used,
}

/// Where a repository can have settings for an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettingsFiles {
    /// Below the workspace: files, and folders with everything in them. What is only read to the model is not meant.
    pub paths: &'static [&'static str],
    /// Whether [`RepositorySettings::LeftOut`] keeps the agent from them. Otherwise it cannot be started beside them.
    pub can_be_left_out: bool,
}

impl SettingsFiles {
    /// Of an agent that reads none, or of which nobody knows what it reads.
    pub const NONE: Self = Self { paths: &[], can_be_left_out: false };
}

/// What keeps an agent to its [`Trust`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enforced {
    /// Nothing: its commands do what the user could do.
    Nothing,
    /// The agent itself, by the tools that it has or asks for.
    Tools,
    /// A sandbox of the operating system, which the agent sets up for its commands.
    Sandbox,
}

impl Enforced {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Nothing => "none",
            Self::Tools => "tools",
            Self::Sandbox => "sandbox",
        }
    }
}

/// A tool server that speaks the Model Context Protocol on its standard streams.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServer {
    /// The name under which the agent knows it.
    pub name: String,
    /// What is started.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its variables.
    pub env: Vec<(String, String)>,
}

/// How an agent's process is to be started. A plan holds no secret: those come from the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchPlan {
    /// What is started.
    pub program: Program,
    /// Its arguments; never passed through a shell, and never holding the prompt.
    pub args: Vec<String>,
    /// How it gets the task.
    pub prompt: PromptVia,
    /// Variables that it needs in order to run unattended.
    pub env: Vec<(String, String)>,
    /// Variables of the user that this vendor's agent may see, such as its key. `PREFIX_*` stands for all that
    /// begin so.
    pub pass_env: Vec<Cow<'static, str>>,
    /// Files that have to be there before it starts, all of them below [`Brief::scratch`].
    pub files: Vec<PlannedFile>,
    /// What is tried before the process is told to end, because it then still says what it did.
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

    /// Adds arguments.
    pub(crate) fn arg(&mut self, args: &[&str]) {
        self.args.extend(args.iter().map(|&arg| arg.to_owned()));
    }

    /// Adds an option with its value, where there is one.
    pub(crate) fn option(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.arg(&[name, value]);
        }
    }

    /// Adds a variable.
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
    /// Where, below [`Brief::scratch`].
    pub path: PathBuf,
    /// What is in it.
    pub content: String,
}

/// A program to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// The first of this name on the `PATH`, or this very file when the name has a `/`.
    OnPath(Cow<'static, str>),
    /// The running binary itself.
    This,
}

/// How an agent gets its task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptVia {
    /// The prompt is all of its standard input: no limit of length, and not to be seen in a list of processes.
    Stdin,
    /// The arguments name the file that holds it; standard input is empty.
    File,
    /// Standard input stays open, and the decoder writes to it, see [`Decoder::reply`].
    Dialogue,
}

/// A gentle way to ask an agent to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// SIGINT, as Ctrl-C does.
    Interrupt,
    /// SIGHUP, as a terminal that goes away does.
    HangUp,
    /// In the words of its protocol, see [`Decoder::interrupt`].
    Say,
}

/// What people should know about a kind of agent, and what tells whether it is ready to work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// The name that its vendor gave it.
    pub title: Cow<'static, str>,
    /// Whose limits its account has: agents of one provider share a pause.
    pub provider: Cow<'static, str>,
    /// What is started.
    pub program: Program,
    /// The arguments that make it print its version.
    pub version_args: &'static [&'static str],
    /// How to get it.
    pub install: Cow<'static, str>,
    /// How to log in.
    pub login: Cow<'static, str>,
    /// Any one of these variables is a sign of being logged in.
    pub login_env: &'static [&'static str],
    /// Any one of these files is one, too: below the home directory, or below the variable in front of the colon
    /// where that is set (`CODEX_HOME:auth.json`).
    pub login_files: &'static [&'static str],
    /// Whether a prompt reaches it while it works.
    pub takes_prompts: bool,
    /// What each [`Trust`] means for it, in words, in the order of [`Trust::WORDS`].
    pub trust: [&'static str; 3],
    /// What keeps it to each of them, in the same order.
    pub enforced: [Enforced; 3],
    /// Where a repository can have settings for it.
    pub settings_files: SettingsFiles,
}

impl About {
    /// What keeps it to this trust.
    pub const fn enforced(&self, trust: Trust) -> Enforced {
        let [read_only, sandbox, full] = self.enforced;
        match trust {
            Trust::ReadOnly => read_only,
            Trust::Sandbox => sandbox,
            Trust::Full => full,
        }
    }
}

/// The files in which an agent writes down a conversation, in its own home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Their folder, as [`About::login_files`] has it; the first whose variable is set counts.
    pub folder: &'static [&'static str],
    /// They are exactly so many folders below it.
    pub levels: usize,
    /// What their names end with.
    pub name_end: String,
}

/// One kind of agent.
pub trait Adapter: Send + Sync {
    /// The name by which tasks choose it.
    fn name(&self) -> &str;

    /// What there is to know about it.
    fn about(&self) -> About;

    /// How to start it for this brief.
    fn plan(&self, brief: &Brief<'_>) -> LaunchPlan;

    /// What understands the output of one process that was started for this brief.
    fn decoder(&self, brief: &Brief<'_>) -> Box<dyn Decoder>;

    /// Where it can go on with a conversation. The stricter answer is safe for every agent.
    fn resumes(&self) -> Resumes {
        Resumes::WhereItBegan
    }

    /// Where it writes down a conversation while it works, for agents whose output tells only at the end of a turn what
    /// was used; see [`Decoder::record`].
    fn record(&self, session: &str) -> Option<Record> {
        let _ = session;
        None
    }

    /// Whether it asks before it uses a tool, so that its trust is kept by the answers, whatever it was started with.
    fn asks(&self) -> bool {
        false
    }
}

/// Where a line came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// Understands the output of one process, line by line, in bounded memory. The same lines always give the same
/// events, so that a keeper that comes later can read them again.
pub trait Decoder: Send {
    /// One line without its end. `cut` says that it was longer than what is passed.
    fn line(&mut self, stream: Stream, line: &[u8], cut: bool) -> Vec<AgentEvent>;

    /// One line that the agent wrote to its own record of the conversation since this process began.
    fn record(&mut self, line: &[u8]) -> Vec<AgentEvent> {
        let _ = line;
        Vec::new()
    }

    /// The process ended, and no more lines come.
    fn end(&mut self, exit: &AgentExit) -> Vec<AgentEvent>;

    /// What is to be written to the agent's standard input now. Asked once at the start, after every line and after
    /// the two below; only agents that are spoken with ([`PromptVia::Dialogue`]) have something to say. Its input is
    /// closed once an [`AgentEvent::Ended`] came and nobody has a further prompt.
    fn reply(&mut self) -> Vec<u8> {
        Vec::new()
    }

    /// A further prompt of a person. `true` says that the agent can take it now and [`Decoder::reply`] has the words;
    /// otherwise the conversation is resumed with it when this process has ended.
    fn prompt(&mut self, text: &str) -> bool {
        let _ = text;
        false
    }

    /// How many of the prompts that [`Decoder::prompt`] took the agent is known to have by now. One that only lies in a
    /// pipe or in our own queue is lost with the process, and has to be told again.
    fn taken(&self) -> usize {
        0
    }

    /// The agent should stop what it is doing. `true` says that [`Decoder::reply`] has the words for it.
    fn interrupt(&mut self) -> bool {
        false
    }

    /// The last thing that the agent said, which may hold a report.
    fn final_text(&self) -> Option<&str>;

    /// What the agent's own counters stand at, if they count over the whole conversation.
    fn meter(&self) -> Option<Meter> {
        None
    }

    /// What went wrong, if the agent did not get over it. Asked after [`Decoder::end`].
    fn failure(&self) -> Option<Failure>;
}

/// What ended an agent's work before it was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What kind of thing.
    pub reason: Reason,
    /// The agent's words.
    pub text: String,
    /// When it is worth trying again, if that was said.
    pub until: Option<When>,
}

impl Failure {
    /// Of which nobody said when it will be over.
    pub fn new(reason: Reason, text: impl Into<String>) -> Self {
        Self { reason, text: text.into(), until: None }
    }

    /// How it is told when it happens: a limit is one for everybody who uses the account, so it comes with its end.
    pub(crate) fn events(&self) -> Vec<AgentEvent> {
        let (reason, text) = (self.reason, self.text.clone());
        let is_limit = matches!(reason, Reason::RateLimited | Reason::QuotaExhausted);
        let limit = is_limit.then(|| AgentEvent::RateLimit { until: self.until, text: text.clone() });
        limit.into_iter().chain([AgentEvent::Error { reason, text }]).collect()
    }
}
