//! What every adapter can do.

use std::path::Path;

use fleet_core::outcome::AgentExit;
use fleet_core::run::Reason;

use crate::event::AgentEvent;

/// What an agent is to do, and where.
#[derive(Debug, Clone, Copy)]
pub struct Brief<'a> {
    /// The task as the agent gets it.
    pub prompt: &'a str,
    /// The same in a file, for agents that read it there.
    pub prompt_file: &'a Path,
    /// The directory it works in.
    pub workspace: &'a Path,
    /// The model, if the task or the configuration names one.
    pub model: Option<&'a str>,
    /// A conversation of an earlier run that is to go on.
    pub session: Option<&'a str>,
    /// The agent should change nothing: where it has a mode for that, it gets it.
    pub read_only: bool,
}

/// How an agent's process is to be started. A plan holds no secret: those come from the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchPlan {
    /// What is started.
    pub program: Program,
    /// Its arguments; never passed through a shell.
    pub args: Vec<String>,
    /// How it gets the task.
    pub prompt: PromptVia,
    /// Variables that it needs in order to run unattended.
    pub env: Vec<(String, String)>,
    /// Variables of the user that this vendor's agent may see, such as its key. `PREFIX_*` stands for all that
    /// begin so.
    pub pass_env: &'static [&'static str],
    /// What is tried before the process is told to end, because it then still says what it did.
    pub ask: Option<Ask>,
}

/// A program to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// The first of this name on the `PATH`.
    OnPath(&'static str),
    /// The running binary itself.
    This,
}

/// How an agent gets its task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptVia {
    /// The prompt is all of its standard input: no limit of length, and not to be seen in a list of processes.
    Stdin,
    /// The arguments name it; standard input is empty.
    Args,
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
}

/// One kind of agent.
pub trait Adapter: Sync {
    /// The name by which tasks choose it.
    fn name(&self) -> &'static str;

    /// How to start it for this brief.
    fn plan(&self, brief: &Brief<'_>) -> LaunchPlan;

    /// What understands the output of one process that was started for this brief.
    fn decoder(&self, brief: &Brief<'_>) -> Box<dyn Decoder>;
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

    /// The process ended, and no more lines come.
    fn end(&mut self, exit: &AgentExit) -> Vec<AgentEvent>;

    /// What is to be written to the agent's standard input now. Asked once at the start and after every line;
    /// only agents that are spoken with have something to say.
    fn reply(&mut self) -> Vec<u8> {
        Vec::new()
    }

    /// The last thing that the agent said, which may hold a report.
    fn final_text(&self) -> Option<&str>;

    /// What went wrong, if the agent did not get over it. Asked after [`Decoder::end`].
    fn failure(&self) -> Option<(Reason, String)>;
}
