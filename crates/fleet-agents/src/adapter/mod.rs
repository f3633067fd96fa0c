//! What every adapter can do.

mod brief;
mod context;
mod launch;

use std::borrow::Cow;

use fleet_core::event::{AgentEvent, Stream, When};
use fleet_core::outcome::AgentExit;
use fleet_core::run::{Meter, Reason};

pub use brief::{Brief, Conversation, McpServer, RepositorySettings, Resumes, Trust};
pub use context::ContextReading;
pub use launch::{Ask, LaunchPlan, PlannedFile, Program, PromptVia};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettingsFiles {
    /// Below the workspace: files, and folders with everything in them. What is only read to the model is not meant.
    pub paths: &'static [&'static str],
    /// Whether [`RepositorySettings::LeftOut`] keeps the agent from them. Otherwise it cannot be started beside them.
    pub can_be_left_out: bool,
}

impl SettingsFiles {
    /// For an agent that reads none, or whose files are unknown.
    pub const NONE: Self = Self { paths: &[], can_be_left_out: false };
}

/// What enforces an agent's [`Trust`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enforced {
    /// Nothing: its commands do what the user could do.
    Nothing,
    /// The agent itself, through the tools that it has or asks for.
    Tools,
    /// A sandbox of the operating system, which the agent sets up for its commands.
    Sandbox,
}

impl Enforced {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Nothing => "none",
            Self::Tools => "tools",
            Self::Sandbox => "sandbox",
        }
    }
}

/// What people should know about a kind of agent, and what tells whether it is ready to work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    pub title: Cow<'static, str>,
    /// Whose limits its account has: agents of one provider share a pause.
    pub provider: Cow<'static, str>,
    pub program: Program,
    /// The arguments that make it print its version; empty if unknown, and then it is not started for this.
    pub version_args: Vec<String>,
    pub install: Cow<'static, str>,
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
    /// What enforces each of them, in the same order.
    pub enforced: [Enforced; 3],
    pub settings_files: SettingsFiles,
}

impl About {
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
pub struct RecordFiles {
    /// Their folder, as [`About::login_files`] has it; the first whose variable is set counts.
    pub folder: &'static [&'static str],
    /// Exactly this many folders below it.
    pub levels: usize,
    pub name_end: String,
}

/// One kind of agent.
pub trait Adapter: Send + Sync {
    /// The name by which tasks choose it.
    fn name(&self) -> &str;

    fn about(&self) -> About;

    fn plan(&self, brief: &Brief<'_>) -> LaunchPlan;

    /// What understands the output of one process that was started for this brief.
    fn decoder(&self, brief: &Brief<'_>) -> Box<dyn Decoder>;

    /// Where it can go on with a conversation. The stricter answer is safe for every agent.
    fn resumes(&self) -> Resumes {
        Resumes::WhereItBegan
    }

    /// Where it writes down a conversation while it works, for agents whose output tells only at the end of a turn what
    /// was used; see [`Decoder::record`].
    fn record(&self, session: &str) -> Option<RecordFiles> {
        let _ = session;
        None
    }

    /// How its own interface is started in a terminal, so that no dialog appears before it takes a prompt; none if it has
    /// no such interface. Hooks, where it has them, call `"$FLEET_BIN" hook`, whose input comes to [`Decoder::hook`].
    fn terminal(&self, brief: &Brief<'_>) -> Option<LaunchPlan> {
        let _ = brief;
        None
    }

    /// The first prompt as it is typed into its terminal, with what it can be told in no other way.
    fn terminal_prompt<'b>(&self, brief: &Brief<'b>) -> Cow<'b, str> {
        brief.prompt.into()
    }

    /// What understands its interface in a terminal, see [`Adapter::terminal`].
    fn terminal_decoder(&self, brief: &Brief<'_>) -> Box<dyn Decoder> {
        self.decoder(brief)
    }

    /// Where an agent in a terminal writes down a conversation while it works, see [`Adapter::record`].
    fn terminal_record(&self, session: &str) -> Option<RecordFiles> {
        self.record(session)
    }

    /// Whether it asks before it uses a tool, so that its trust is kept by the answers, whatever it was started with.
    fn asks(&self) -> bool {
        false
    }
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

    /// What a hook of the agent in a terminal was called with. Not trusted: anything in the run can call it.
    fn hook(&mut self, payload: &[u8]) -> Vec<AgentEvent> {
        let _ = payload;
        Vec::new()
    }

    /// The lines of the screen of an agent in a terminal: about once a second, and when they have changed and stand still.
    /// What a hook told is contradicted only by two looks in a row, because the screen is drawn after the hook.
    fn screen(&mut self, lines: &[String]) -> Vec<AgentEvent> {
        let _ = lines;
        Vec::new()
    }

    /// What to type into the dialog on the screen of an agent in a terminal that asks for permission; none if the
    /// screen shows no such dialog, or one without this answer.
    fn permission_keys(&self, answer: PermissionAnswer, lines: &[String]) -> Option<Vec<u8>> {
        let _ = (answer, lines);
        None
    }

    /// Whether the screen of an agent in a terminal shows a dialog that waits for a person, whatever its hooks say.
    fn shows_dialog(&self, lines: &[String]) -> bool {
        self.permission_keys(PermissionAnswer::Allow, lines).is_some()
    }

    /// Whether hooks or the record of an agent in a terminal tell of every prompt that it gets.
    fn tells_prompts(&self) -> bool {
        false
    }

    /// Whether the screen shows an input without text; also false if that cannot be told.
    fn shows_empty_input(&self, lines: &[String]) -> bool {
        let _ = lines;
        false
    }

    /// What to type into a dialog that no setting prevents at the start of an agent in a terminal, and that has one right
    /// answer. Asked while it has not taken a prompt; none if the screen shows no such dialog.
    fn start_keys(&self, lines: &[String]) -> Option<Vec<u8>> {
        let _ = lines;
        None
    }

    /// The process ended, and no more lines come.
    fn end(&mut self, exit: &AgentExit) -> Vec<AgentEvent>;

    /// What is to be written to the agent's standard input now. Asked once at the start, after every line and after the
    /// two below; only agents that are spoken with ([`PromptVia::Dialogue`]) have something to say. Its input is closed
    /// once an [`AgentEvent::Ended`] came and no further prompt waits.
    fn reply(&mut self) -> Vec<u8> {
        Vec::new()
    }

    /// A further prompt of a person. `true` says that the agent can take it now and [`Decoder::reply`] has the words;
    /// otherwise the conversation is resumed with it when this process has ended.
    fn prompt(&mut self, text: &str) -> bool {
        let _ = text;
        false
    }

    /// How many of the prompts that [`Decoder::prompt`] took the agent is known to have by now. One that is only in a
    /// pipe or in our own queue is lost with the process, and has to be sent again.
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

    /// How long the last request of the main conversation was, if the agent tells.
    fn context(&self) -> Option<ContextReading> {
        None
    }

    /// What went wrong, if the agent did not get over it. Asked after [`Decoder::end`].
    fn failure(&self) -> Option<AgentFailure>;
}

/// An answer to an agent that asks whether it may do something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermissionAnswer {
    Allow,
    /// Allow it, and what is like it, without being asked again.
    AllowAlways,
    Deny,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFailure {
    pub reason: Reason,
    pub text: String,
    /// When it is worth trying again, if that was said.
    pub until: Option<When>,
}

impl AgentFailure {
    /// A failure without a known end.
    pub fn new(reason: Reason, text: impl Into<String>) -> Self {
        Self { reason, text: text.into(), until: None }
    }

    /// The events of a failure. A limit holds for everyone who uses the account, so it comes with its end.
    pub(crate) fn events(&self) -> Vec<AgentEvent> {
        let (reason, text) = (self.reason, self.text.clone());
        let is_limit = matches!(reason, Reason::RateLimited | Reason::QuotaExhausted);
        let limit = is_limit.then(|| AgentEvent::RateLimit { until: self.until, text: text.clone() });
        limit.into_iter().chain([AgentEvent::Error { reason, text }]).collect()
    }
}
