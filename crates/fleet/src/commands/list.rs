mod rows;

use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};
use std::time::Duration;

use clap::Args;
use fleet_api::verbs::run_list::{Answer, Request};
use fleet_api::verbs::runner_start;
use fleet_api::views::{ListedRunView, RunView};
use fleet_core::id::TaskId;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::task::TaskState;
use fleet_core::text::escaped;
use fleet_core::time::Millis;

use fleet_engine::Keys;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::Context;
use crate::Done;
use crate::exit::stopped_by;
use crate::output::{Stdout, agent_and_model, ago, count, dim, pager, terminal, warn};
use rows::ListLayout;

/// List agents and the queue: what runs, needs you, comes next
///
/// Each task has one row, with the short form of its id, its branch, agent and state; any of id and branch names it in
/// other commands. CPU is a share of one processor: since the start of the agent, or with --watch since the last look.
/// CPU and memory count every process that the agent has started. IDLE is how long it has printed nothing.
#[derive(Debug, Args)]
#[command(visible_alias = "ls", aliases = ["l", "ps", "tasks"], after_help = EXAMPLES)]
#[command(display_order = 70)]
pub(crate) struct List {
    #[command(flatten)]
    request: Request,
    /// One table for each batch
    #[arg(short, long, display_order = 0)]
    grouped: bool,
    /// Keep the list on the screen and up to date, until q or Ctrl-C
    #[arg(short, long, display_order = 0)]
    watch: bool,
    /// Start a runner first, if none is up: it repairs runs that lost their keeper
    #[arg(long, display_order = 0)]
    repair: bool,
}

const EXAMPLES: &str = "Examples:
  fleet list --watch
  fleet list --all -n 20
  fleet list --json | jq -r '.runs[] | select(.load.idle_seconds > 300) | .branch'";

impl List {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let Self { request, grouped, watch, repair } = self;
        if repair {
            context.call(runner_start::Request::default()).await?;
        }
        let (all, form) = (request.all, ListLayout { grouped, all_projects: request.all_projects });
        if watch {
            return self::watch(context, request, form).await;
        }
        let newest_only = !context.output.is_json();
        let list = context.call(Request { newest_only, ..request }).await?;
        context.tell_unattended().await;
        for pause in &list.paused {
            context.output.note(&warn(&escaped(&pause.sentence())));
        }
        if is_empty(&list) && !context.output.is_json() {
            context.output.note(&empty(&list, all));
            return Ok(());
        }
        context.output.show(&list, || form.render(&list, context.engine.now()))?;
        match questions(&list) {
            0 => {}
            1 => context.output.note("1 task needs your answer: `fleet inbox` shows the question"),
            more => context
                .output
                .note(&format!("{more} tasks need your answer: `fleet inbox` shows the questions")),
        }
        if list.more {
            let shown = list.runs.len();
            context
                .output
                .note(&dim(&format!("there are more; the newest {shown} shown, --limit N shows more")));
        }
        Ok(())
    }
}

/// How many tasks wait for a person; narrow tables have no room to say how to answer.
fn questions(list: &Answer) -> usize {
    let asks = |run: &RunView| run.agent_state.as_ref().is_some_and(|now| now.state.needs_person());
    let waits = |one: &&ListedRunView| one.task_state == Some(TaskState::Waiting) || asks(&one.run);
    let runs = list.runs.iter().filter(waits);
    let queued = list.queue.iter().filter(|task| task.state == TaskState::Waiting).map(|task| task.id);
    runs.map(|listed| listed.run.task).chain(queued).collect::<BTreeSet<TaskId>>().len()
}

fn is_empty(list: &Answer) -> bool {
    list.runs.is_empty() && list.queue.is_empty() && list.unstarted.is_empty()
}

fn empty(list: &Answer, all: bool) -> String {
    let line = match (list.elsewhere, all) {
        (0, true) => "no agent has run here yet; `fleet task add \"…\"` adds a task",
        (0, false) => "no agent is running and the queue is empty; `fleet list --all` shows what ended",
        (_, _) => "no agent is running in this repository",
    };
    match list.elsewhere {
        0 => line.to_owned(),
        1 => format!("{line}, but 1 in another one: `fleet list -A`"),
        more => format!("{line}, but {more} in others: `fleet list -A`"),
    }
}

/// Processor and memory change without an event.
const REFRESH_SECONDS: u32 = 2;
/// Fifty agents change the store all the time; nobody reads faster than this.
const PAUSE: Duration = Duration::from_millis(250);

pub(super) async fn keep_watching(context: &Context, request: Request) -> Done {
    let form = ListLayout { grouped: false, all_projects: request.all_projects };
    watch(context, request, form).await
}

async fn watch(context: &Context, request: Request, form: ListLayout) -> Done {
    if context.output.is_json() || !std::io::stdout().is_terminal() {
        return Err(Problem::new(Code::Usage, "--watch draws on a terminal")
            .hint("`fleet list --json` answers once; `fleet events --follow --json` prints each event"));
    }
    pager::off();
    let keys = Keys::listen();
    let (mut interrupt, mut terminate) = (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
    let continued = listen(SignalKind::from_raw(Keys::CONTINUED))?;
    let stopped = tokio::select! {
        done = keep_drawing(context, request, form) => return done,
        () = quit(keys.as_ref()) => None,
        _ = interrupt.recv() => Some(SignalKind::interrupt()),
        _ = terminate.recv() => Some(SignalKind::terminate()),
        () = listen_when_continued(keys.as_ref(), continued) => None,
    };
    // The terminal is as it was before anything ends the process.
    drop(keys);
    stopped.map_or(Ok(()), |signal| stopped_by(signal))
}

fn listen(kind: SignalKind) -> Outcome<Signal> {
    signal(kind).map_err(|error| Problem::new(Code::Internal, format!("signals: {error}")))
}

/// After Ctrl-Z and `fg` the terminal is as the shell has left it.
async fn listen_when_continued(keys: Option<&Keys>, mut continued: Signal) {
    while continued.recv().await.is_some() {
        keys.inspect(|keys| keys.listen_again());
    }
}

/// Returns when somebody presses `q`; never where there are no keys.
async fn quit(keys: Option<&Keys>) {
    let (pressed, told) = tokio::sync::oneshot::channel();
    if keys.is_some() {
        std::thread::spawn(move || {
            if std::iter::from_fn(Keys::next).any(|key| key == b'q') {
                let _ = pressed.send(());
            }
        });
    }
    if told.await.is_err() {
        std::future::pending::<()>().await;
    }
}

async fn keep_drawing(context: &Context, mut request: Request, form: ListLayout) -> Done {
    let all = request.all;
    // The first look is at once.
    (request.wait_seconds, request.newest_only) = (Some(0), true);
    // What was on the screen before is scrolled away, not lost.
    let mut clear = "\u{1b}[2J";
    loop {
        let list = context.call(request.clone()).await?;
        let now = context.engine.now();
        let text = if is_empty(&list) { empty(&list, all) } else { form.render(&list, now) };
        let unattended = context.unattended().await;
        let paused = list.paused.iter().map(|pause| warn(&escaped(&pause.sentence())) + "\n");
        let text = paused.collect::<String>() + &text;
        let text = unattended.iter().fold(text, |text, one| format!("{}\n{text}", one.sentence()));
        draw(clear, &text)
            .map_err(|error| Problem::new(Code::Io, format!("cannot write to standard output: {error}")))?;
        clear = "";
        (request.after, request.wait_seconds) = (list.looked, Some(REFRESH_SECONDS));
        tokio::time::sleep(PAUSE).await;
    }
}

/// Line over line, so that nothing flickers; what does not fit on the screen is only counted.
fn draw(clear: &str, text: &str) -> std::io::Result<()> {
    let height = terminal().map_or(24, |(_, height)| height).max(2);
    let total = text.lines().count();
    let fits = if total < height { total } else { height - 2 };
    let mut frame = format!("{clear}\u{1b}[H");
    for line in text.lines().take(fits) {
        frame.push_str(line);
        frame.push_str("\u{1b}[K\n");
    }
    if total > fits {
        frame.push_str(&dim(&format!("… and {} more", count(total - fits, "line"))));
        frame.push_str("\u{1b}[K\n");
    }
    frame.push_str("\u{1b}[J");
    Stdout.write_all(frame.as_bytes())?;
    Stdout.flush()
}

pub(super) fn agent(run: &RunView) -> String {
    agent_and_model(Some(&run.agent), run.model.as_deref())
}

/// How long it has been at work, or was.
pub(super) fn elapsed(run: &RunView, now: Millis) -> String {
    let from = run.started_at.unwrap_or(run.created_at);
    ago(from.0, run.ended_at.map_or(now, |at| at.0))
}
