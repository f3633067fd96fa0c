//! `fleet attach`: looking at an agent, and talking to it.

mod stream;
mod tmux;

use std::io::IsTerminal as _;
use std::time::Duration;

use clap::Args;
use fleet_api::verbs::run_attach::{Answer, AttachTarget, Request};
use fleet_api::verbs::{run_mode, why};
use fleet_core::id::RunId;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::task::TaskMode;
use fleet_core::text::escaped;
use fleet_engine::terminal::{AttachOptions, Attached, DetachKey, TerminalEnd, attach};
use tokio::time::Instant;

use super::Context;
use super::launching::wake;
use crate::Done;
use crate::output::dim;
use tmux::Layout;

/// An agent that has not started after this is not waited for.
const START_TIMEOUT: Duration = Duration::from_mins(5);
/// After this many seconds, people are told what they wait for.
const NOTICE_DELAY: u32 = 1;
/// It is waited for in pieces of this many seconds.
const WAIT_SECONDS: u32 = 20;

/// Attach to an agent's terminal
///
/// Shows the terminal as it is now, then live. Every key goes to the agent, also Ctrl-C, which may end it; only the detach
/// key does not. Several people can attach at once: the terminal has the size of the smallest window that can type. The
/// agent keeps running when you detach, when your terminal closes and when the connection breaks.
///
/// For a headless agent it shows what the agent says and does, and a line for your prompts. --takeover continues its
/// conversation in a terminal instead; `fleet headless ID` goes back.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 105)]
pub(crate) struct Attach {
    /// The agent: its branch, the id of its task, or of a run; with --tmux several, and patterns such as 'login-*'
    #[arg(required = true)]
    ids: Vec<String>,
    /// Watch only; your keys do not reach the agent
    #[arg(short, long)]
    read_only: bool,
    /// Continue a headless agent's conversation in a terminal
    #[arg(long, conflicts_with_all = ["read_only", "tmux"])]
    takeover: bool,
    #[command(flatten)]
    tmux: TmuxChoice,
    /// Detach with this key, such as ctrl-a [default: ctrl-], from `terminal.detach_key`]
    #[arg(long, value_name = "KEY")]
    detach_key: Option<String>,
}

/// How several agents are shown.
#[derive(Debug, Clone, Copy, Args)]
struct TmuxChoice {
    /// Open each agent in its own tmux window
    #[arg(long)]
    tmux: bool,
    /// With --tmux, use one window with a pane for each agent
    #[arg(long, requires = "tmux")]
    panes: bool,
}

const EXAMPLES: &str = "Examples:
  fleet attach login-fix
  fleet attach login-fix --read-only
  fleet attach --tmux login-A login-B --panes
  fleet attach --tmux 'login-*'
  fleet attach flaky-test --takeover";

impl Attach {
    pub(crate) async fn run(self, context: &Context) -> Done {
        if self.tmux.tmux {
            let layout = if self.tmux.panes { Layout::Panes } else { Layout::Windows };
            return tmux::open(context, &self.ids, layout, &self.options()).await;
        }
        let [id] = self.ids.as_slice() else {
            return Err(Problem::new(Code::Usage, "`fleet attach` takes one agent")
                .hint("`fleet attach --tmux ID…` opens a window for each"));
        };
        let detach_key = detach_key(context, self.detach_key.as_deref())?;
        let found = context.call(Request { id: id.clone(), wait_seconds: None }).await?;
        if found.target == AttachTarget::Over && !self.takeover {
            return Err(over(id));
        }
        require_terminal(&format!("`fleet logs {}` prints what the agent's terminal shows", escaped(id)))?;
        let found =
            if self.takeover { take_over(context, id).await? } else { until_started(context, id).await? };
        enter(context, id, found, (self.read_only, detach_key)).await
    }
}

/// Before anything is stopped or created for somebody who cannot look at it; says what to do instead.
pub(crate) fn require_terminal(instead: &str) -> Done {
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        return Ok(());
    }
    Err(Problem::new(Code::Usage, "attaching needs a terminal; nothing was done").hint(instead))
}

/// Continues a conversation in a terminal, and waits for that.
async fn take_over(context: &Context, id: &str) -> Outcome<Answer> {
    let stopped = to_terminal(context, id).await?;
    let found = until_started(context, id).await?;
    if found.target != AttachTarget::Over || stopped.is_none() || found.run != stopped {
        return Ok(found);
    }
    // The agent was done before it could be stopped.
    to_terminal(context, id).await?;
    until_started(context, id).await
}

/// The run that is stopped for it.
async fn to_terminal(context: &Context, id: &str) -> Outcome<Option<RunId>> {
    let request = run_mode::Request { id: id.to_owned(), mode: TaskMode::Interactive };
    let answer = context.call(request).await?;
    if !answer.unchanged {
        context.output.note(&dim("continuing the conversation in a terminal…"));
        wake(context).await;
    }
    Ok(answer.stopped)
}

fn detach_key(context: &Context, given: Option<&str>) -> Outcome<DetachKey> {
    let configured = context.engine.config()?.terminal().detach_key.clone();
    given.unwrap_or(&configured).parse().map_err(|why: String| Problem::field("detach_key", why))
}

/// Attaches to agents that were just launched, with the configured key: several in tmux.
pub(crate) async fn attach_to(context: &Context, ids: &[String]) -> Done {
    match ids {
        [id] => {
            let found = until_started(context, id).await?;
            enter(context, id, found, (false, detach_key(context, None)?)).await
        }
        ids => tmux::open(context, ids, Layout::Panes, &[]).await,
    }
}

async fn enter(
    context: &Context,
    id: &str,
    found: Answer,
    (read_only, detach_key): (bool, DetachKey),
) -> Done {
    match (found.target, found.run) {
        (AttachTarget::Terminal, Some(run)) => {
            let banner = banner(&found, read_only);
            let options = AttachOptions { run, read_only, detach_key, banner };
            match attach(&context.engine, options).await? {
                Some(end) => told(context, id, &end),
                None => Err(over(id)),
            }
        }
        (AttachTarget::Headless, Some(_)) => stream::follow(context, id, read_only, detach_key).await,
        _ => Err(over(id)),
    }
}

fn banner(found: &Answer, read_only: bool) -> String {
    let name = found.branch.as_deref().unwrap_or(found.title.as_str());
    let agent = found.agent.as_deref().unwrap_or("agent");
    let reading = if read_only { " read-only ·" } else { "" };
    format!("{reading} {} · {}", escaped(name), escaped(agent))
}

/// Waits for an agent that is being started.
async fn until_started(context: &Context, id: &str) -> Outcome<Answer> {
    let (began, mut is_told) = (Instant::now(), false);
    loop {
        let wait_seconds = Some(if is_told { WAIT_SECONDS } else { NOTICE_DELAY });
        let found = context.call(Request { id: id.to_owned(), wait_seconds }).await?;
        if found.target != AttachTarget::Starting {
            return Ok(found);
        }
        if began.elapsed() > START_TIMEOUT {
            return Err(Problem::new(Code::NoTerminal, format!("{} does not start", escaped(&found.title)))
                .hint(format!("`fleet why {id}` says why")));
        }
        if !is_told {
            is_told = true;
            context.output.note(&dim(&waiting(context, id).await));
        }
    }
}

/// What an agent that has not started waits for.
async fn waiting(context: &Context, id: &str) -> String {
    match context.call(why::Request { id: id.to_owned() }).await {
        Ok(why) => format!("waiting for the agent to start; next: {}", escaped(why.next.trim_end())),
        Err(_) => "waiting for the agent to start…".to_owned(),
    }
}

fn over(id: &str) -> Problem {
    let id = escaped(id);
    Problem::new(Code::NoTerminal, format!("no agent works on {id} now"))
        .hint(format!("`fleet attach {id} --takeover` opens its conversation in a terminal again"))
        .hint(format!("`fleet logs {id}` shows what it said, `fleet show {id}` what it did"))
}

fn told(context: &Context, id: &str, end: &Attached) -> Done {
    let id = escaped(id);
    match end {
        Attached::Detached => {
            context.output.note(&format!("detached; the agent keeps running: `fleet attach {id}` returns"));
        }
        Attached::Ended(TerminalEnd { why, continues: true }) => {
            context.output.note(&format!("{}: `fleet attach {id}` follows it", escaped(why)));
        }
        Attached::Ended(TerminalEnd { why, continues: false }) => {
            context.output.note(&format!("{}; `fleet show {id}` shows what it did", escaped(why)));
        }
        Attached::Lost => {
            return Err(Problem::new(Code::NoTerminal, "the keeper of the agent is gone; its work is kept")
                .hint(format!("`fleet why {id}` says what happens now")));
        }
    }
    Ok(())
}
