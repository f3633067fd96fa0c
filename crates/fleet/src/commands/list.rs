use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::time::Duration;

use clap::Args;
use fleet_api::verbs::run_list::{Answer, Request};
use fleet_api::views::{ListedRunView, RunView};
use fleet_core::id::BatchId;
use fleet_core::problem::{Code, Problem};
use fleet_core::time::{Millis, Span};

use super::Context;
use crate::Done;
use crate::output::{
    Column, Stdout, TITLE, agent_and_model, ago, bytes, cost, count, dim, paint_status, strong, table,
    terminal, tokens,
};

/// List running agents, with what they do and use
///
/// CPU is a share of one processor: since the start of the agent, or with --watch since the last look. CPU and memory
/// count every process that the agent has started. IDLE is how long it has printed nothing.
#[derive(Debug, Args)]
#[command(visible_alias = "ls", after_help = EXAMPLES)]
#[command(display_order = 70)]
pub(crate) struct List {
    #[command(flatten)]
    request: Request,
    /// One table for each batch
    #[arg(short, long, display_order = 0)]
    grouped: bool,
    /// Keep the list on the screen and up to date, until Ctrl-C
    #[arg(short, long, display_order = 0)]
    watch: bool,
}

const EXAMPLES: &str = "Examples:
  fleet list --watch
  fleet list --all -n 20
  fleet list --json | jq -r '.runs[] | select(.load.idle_seconds > 300) | .branch'";

impl List {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let Self { request, grouped, watch } = self;
        let (all, form) = (request.all, Form { grouped, all_projects: request.all_projects });
        if watch {
            return self::watch(context, request, form).await;
        }
        let list = context.call(request).await?;
        context.tell_unattended().await;
        if list.runs.is_empty() && !context.output.is_json() {
            context.output.note(&empty(&list, all));
            return Ok(());
        }
        context.output.show(&list, || form.render(&list, context.engine.now()))?;
        if list.more {
            let shown = list.runs.len();
            context
                .output
                .note(&dim(&format!("there are more; the newest {shown} shown, --limit N shows more")));
        }
        Ok(())
    }
}

fn empty(list: &Answer, all: bool) -> String {
    let line = match (list.elsewhere, all) {
        (0, true) => "no agent has run here yet; `fleet task add \"…\"` adds a task",
        (0, false) => "no agent is running; `fleet task list` shows the queue, `fleet list --all` what ended",
        (_, _) => "no agent is running in this repository",
    };
    match list.elsewhere {
        0 => line.to_owned(),
        1 => format!("{line}, but 1 in another one: `fleet list -A`"),
        more => format!("{line}, but {more} in others: `fleet list -A`"),
    }
}

/// Processor and memory change without an event.
const LOOK: u32 = 2;
/// Fifty agents change the store all the time; nobody reads faster than this.
const PAUSE: Duration = Duration::from_millis(250);

async fn watch(context: &Context, mut request: Request, form: Form) -> Done {
    if context.output.is_json() || !std::io::stdout().is_terminal() {
        return Err(Problem::new(Code::Usage, "--watch draws on a terminal")
            .hint("`fleet list --json` answers once; `fleet events --follow --json` prints each event"));
    }
    let all = request.all;
    // The first look is at once.
    request.wait_seconds = Some(0);
    // What was on the screen before is scrolled away, not lost.
    let mut clear = "\u{1b}[2J";
    loop {
        let list = context.call(request.clone()).await?;
        let now = context.engine.now();
        let text = if list.runs.is_empty() { empty(&list, all) } else { form.render(&list, now) };
        let unattended = context.unattended().await;
        let text = unattended.iter().fold(text, |text, one| format!("{}\n{text}", one.sentence()));
        draw(clear, &text)
            .map_err(|error| Problem::new(Code::Io, format!("cannot write to standard output: {error}")))?;
        clear = "";
        (request.after, request.wait_seconds) = (list.looked, Some(LOOK));
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

#[derive(Debug, Clone, Copy)]
struct Form {
    grouped: bool,
    all_projects: bool,
}

impl Form {
    fn render(self, list: &Answer, now: Millis) -> String {
        if !self.grouped {
            return self.rows(&list.runs.iter().collect::<Vec<_>>(), now);
        }
        // The newest batch first, as everywhere; what belongs to none comes last.
        let mut groups: BTreeMap<Option<BatchId>, Vec<&ListedRunView>> = BTreeMap::new();
        for run in &list.runs {
            groups.entry(run.batch).or_default().push(run);
        }
        let group = |(batch, runs): (&Option<BatchId>, &Vec<&ListedRunView>)| {
            let title = batch.map_or_else(|| "without a batch".to_owned(), |batch| format!("batch {batch}"));
            format!("{}  {}\n{}", strong(&title), dim(&states(runs)), self.rows(runs, now))
        };
        groups.iter().rev().map(group).collect::<Vec<_>>().join("\n\n")
    }

    fn rows(self, runs: &[&ListedRunView], now: Millis) -> String {
        let column =
            |cell: fn(&ListedRunView) -> String| runs.iter().map(|run| cell(run)).collect::<Vec<_>>();
        let mut columns = vec![
            Column::new("BRANCH", column(|listed| name(&listed.run))).naming(),
            Column::new("TASK", column(|listed| listed.title.clone().unwrap_or_default())).keeping(TITLE),
            Column::new("AGENT", column(|listed| agent(&listed.run))).giving_way().spare(),
            Column::new("STATE", column(state)).painted(paint_status),
            Column::new("WHERE", column(|listed| listed.elsewhere.clone().unwrap_or_default())).spare(),
            Column::new("TIME", runs.iter().map(|listed| elapsed(&listed.run, now))).painted(dim),
            Column::new("ENDED", runs.iter().map(|listed| ended(&listed.run, now))).painted(dim).spare(),
            Column::new("IDLE", column(idle)).spare(),
            Column::new("CPU", column(cpu)).spare(),
            Column::new("MEM", column(memory)).spare(),
            Column::new(
                "TOKENS",
                column(|listed| tokens(listed.run.input_tokens.saturating_add(listed.run.output_tokens))),
            )
            .spare(),
            Column::new("COST", column(|listed| cost(listed.run.micro_usd))).spare(),
            Column::new("NOTE", column(|listed| note(&listed.run))).painted(dim).giving_way().spare(),
            Column::new("FOLDER", column(|listed| listed.run.workspace.clone().unwrap_or_default())).extra(),
        ];
        if self.all_projects {
            columns.insert(0, Column::new("PROJECT", column(|listed| listed.project_name.clone())).naming());
        }
        table(columns)
    }
}

fn states(runs: &[&ListedRunView]) -> String {
    let mut states: BTreeMap<&str, usize> = BTreeMap::new();
    for listed in runs {
        *states.entry(listed.run.state.as_str()).or_default() += 1;
    }
    states.iter().map(|(state, count)| format!("{count} {state}")).collect::<Vec<_>>().join(", ")
}

/// By which it can be named in other commands: its branch, or its task before it has one.
fn name(run: &RunView) -> String {
    run.branch.clone().unwrap_or_else(|| run.task.to_string())
}

pub(super) fn agent(run: &RunView) -> String {
    agent_and_model(Some(&run.agent), run.model.as_deref())
}

fn state(listed: &ListedRunView) -> String {
    match &listed.run.stopping {
        Some(_) => "stopping".to_owned(),
        None => listed.run.state.to_string(),
    }
}

/// How long it has been at work, or was.
pub(super) fn elapsed(run: &RunView, now: Millis) -> String {
    let from = run.started_at.unwrap_or(run.created_at);
    ago(from.0, run.ended_at.map_or(now, |at| at.0))
}

fn ended(run: &RunView, now: Millis) -> String {
    run.ended_at.map(|at| format!("{} ago", ago(at.0, now))).unwrap_or_default()
}

fn idle(listed: &ListedRunView) -> String {
    let idle = listed.load.and_then(|load| load.idle_seconds);
    idle.map(|seconds| Span(Duration::from_secs(seconds)).to_string()).unwrap_or_default()
}

fn cpu(listed: &ListedRunView) -> String {
    let cpu = listed.load.and_then(|load| load.cpu_percent);
    cpu.map(|percent| format!("{percent}%")).unwrap_or_default()
}

fn memory(listed: &ListedRunView) -> String {
    listed.load.map(|load| bytes(load.memory_bytes)).unwrap_or_default()
}

/// What it does, or how it ended.
fn note(run: &RunView) -> String {
    if let Some(why) = &run.stopping {
        return why.clone();
    }
    if run.ended_at.is_some() {
        let reason = run.reason.map(|reason| reason.to_string());
        let said = reason.into_iter().chain(run.detail.clone());
        return said.collect::<Vec<_>>().join(": ");
    }
    let percent = run.percent.map(|percent| format!("{percent}%"));
    percent.into_iter().chain(run.activity.clone()).collect::<Vec<_>>().join(" ")
}
