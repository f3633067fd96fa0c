//! `fleet logs`

mod render;

use std::collections::VecDeque;
use std::io::Write;

use clap::Args;
use fleet_api::verbs::run_logs::{Answer, LogEnd, LogStream, OutputPiece, Request};
use fleet_api::verbs::run_screen;
use fleet_core::event::AgentEvent;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::run::RunState;
use fleet_core::text::{escaped, escaped_lines};
use serde_json::json;

use super::Context;
use crate::Done;
use crate::output::{Stdout, dim, pager, paint_status, print};
pub(crate) use render::Renderer;

/// Show what the agent of a run says and does
///
/// Works while the agent runs and afterwards, and begins with the end of what the set-up commands printed. What agents print is made safe for your terminal; with --raw it comes
/// byte for byte. The middle of very long logs is left out, and a line says so.
#[derive(Debug, Args)]
#[command(alias = "log", after_help = EXAMPLES)]
#[command(display_order = 100)]
pub(crate) struct Logs {
    /// The id of a run; or a task, by its id or branch, which means its newest run
    id: String,
    /// Last N lines
    #[arg(short = 'n', long, alias = "limit", value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    lines: Option<u32>,
    /// Keep showing what comes, until the run ends
    #[arg(short, long)]
    follow: bool,
    /// Byte for byte, as the agent printed it
    #[arg(long)]
    raw: bool,
    #[command(flatten)]
    other: OtherStream,
    /// This attempt at the task instead of the newest
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    attempt: Option<i64>,
}

/// What else there is to read.
#[derive(Debug, Clone, Copy, Args)]
struct OtherStream {
    /// Standard error instead of standard output
    #[arg(long)]
    stderr: bool,
    /// What the set-up commands of the workspace printed, all of it
    #[arg(long, conflicts_with = "stderr")]
    setup: bool,
}

impl OtherStream {
    const fn stream(self) -> LogStream {
        match self {
            Self { stderr: true, .. } => LogStream::Err,
            Self { setup: true, .. } => LogStream::Setup,
            Self { .. } => LogStream::Out,
        }
    }
}

const EXAMPLES: &str = "Examples:
  fleet logs login-fix --follow
  fleet logs login-fix -n 20
  fleet logs t0skybd1 --attempt 1 --stderr
  fleet logs login-fix --json | jq -r 'select(.kind == \"tool\") | .summary'";

impl Logs {
    pub(crate) async fn run(self, context: &Context) -> Done {
        if self.raw && context.output.is_json() {
            return Err(Problem::new(Code::Usage, "raw bytes are not JSON")
                .hint("leave out --raw for one JSON object per entry, or --json for the bytes"));
        }
        if self.follow {
            pager::off();
        }
        let stream = self.other.stream();
        let is_screen = stream == LogStream::Out && !self.raw;
        // Only people see terminals.
        if is_screen && !context.engine.is_inside_a_run() && self.show_terminal(context).await? {
            return Ok(());
        }
        let mut request = Request {
            id: self.id.clone(),
            attempt: self.attempt,
            stream,
            raw: self.raw,
            last_lines: self.lines.filter(|_| self.raw),
            wait_seconds: self.follow.then_some(0),
            ..Request::default()
        };
        let held = self.lines.filter(|_| !self.raw).map(|last| (last as usize, VecDeque::new()));
        let form =
            if context.output.is_json() { LogForm::Json } else { LogForm::People(Renderer::default()) };
        let mut lines = LogLines { form, held };
        if stream == LogStream::Out && !self.raw && !context.output.is_json() {
            lines.add(self.setup_lines(context).await?)?;
        }
        let last = loop {
            let page = context.call(request.clone()).await?;
            show(&page, &mut lines)?;
            if page.end.is_some() || !(page.more || self.follow) {
                break page;
            }
            // What is there comes first; then somebody who follows waits.
            let wait = if page.more { 0 } else { WAIT };
            (request.after, request.wait_seconds) = (Some(page.next), self.follow.then_some(wait));
        };
        if last.is_empty {
            let who = if stream == LogStream::Setup { "the set-up commands have" } else { "the agent has" };
            context.output.note(&format!("{who} printed nothing"));
        }
        lines.finish()?;
        if last.has_errors && stream == LogStream::Out && !self.raw && !context.output.is_json() {
            self.tell_errors(context, last.end).await?;
        }
        if last.end == Some(LogEnd::Asked) {
            context.output.note(&dim(&format!("`fleet answer {} \"…\"` answers it", self.id)));
        }
        if let Some(end) = last.end.filter(|_| self.follow) {
            context.output.note(&ending(end));
        }
        Ok(())
    }
}

/// As many lines of standard error say what went wrong.
const STDERR_LINES: u32 = 5;
/// As many lines of set-up output come before what the agent says.
const SETUP_LINES: u32 = 20;

impl Logs {
    /// Shows what the terminal of an agent shows, if it has one.
    async fn show_terminal(&self, context: &Context) -> Outcome<bool> {
        let screen = run_screen::Request { id: self.id.clone(), attempt: self.attempt, lines: self.lines };
        let screen = context.call(screen).await?;
        if !screen.interactive {
            return Ok(false);
        }
        let is_json = context.output.is_json();
        let lines: Vec<_> = screen
            .lines
            .iter()
            .map(|text| {
                if is_json {
                    json!({"kind": "line", "text": text}).to_string()
                } else {
                    escaped(text).into_owned()
                }
            })
            .collect();
        print(lines.join("\n").trim_end())?;
        if self.follow && screen.live {
            let hint = format!("`fleet attach {} --read-only` follows its terminal", self.id);
            context.output.note(&dim(&hint));
        }
        Ok(true)
    }

    /// What the set-up commands printed last, each line marked; nothing if there were none.
    async fn setup_lines(&self, context: &Context) -> Outcome<Vec<String>> {
        let text = self.last_lines(context, LogStream::Setup, SETUP_LINES).await?;
        Ok(text.lines().map(|line| format!("{} {line}", dim("set-up:"))).collect())
    }

    /// The end of a stream, made safe for a terminal.
    async fn last_lines(&self, context: &Context, stream: LogStream, lines: u32) -> Outcome<String> {
        let request = Request {
            id: self.id.clone(),
            attempt: self.attempt,
            stream,
            raw: true,
            last_lines: Some(lines),
            ..Request::default()
        };
        let page = context.call(request).await?;
        let bytes = page.pieces.iter().filter_map(|piece| match piece {
            OutputPiece::Bytes(bytes) => Some(bytes.0.as_slice()),
            OutputPiece::Gap(_) => None,
        });
        let text = bytes.map(String::from_utf8_lossy).collect::<String>();
        Ok(escaped_lines(text.trim_end()).into_owned())
    }

    /// The end of standard error, for somebody who may not know that there is more.
    async fn tell_errors(&self, context: &Context, end: Option<LogEnd>) -> Done {
        if end.is_some_and(|end| !matches!(end, LogEnd::Ended(RunState::Succeeded) | LogEnd::Asked)) {
            let lines = self.last_lines(context, LogStream::Err, STDERR_LINES).await?.replace('\n', "\n  ");
            context.output.note(&format!("{}\n  {lines}", dim("standard error ends with:")));
        }
        context.output.note(&dim(&format!("`fleet logs {} --stderr` shows standard error", self.id)));
        Ok(())
    }
}

/// One call waits at most this many seconds for more.
const WAIT: u32 = 30;

/// Shows a page; at the present end of the log, what was held back as well.
fn show(page: &Answer, lines: &mut LogLines) -> Done {
    for piece in &page.pieces {
        write(piece)
            .map_err(|error| Problem::new(Code::Io, format!("cannot write to standard output: {error}")))?;
    }
    lines.take(&page.entries)?;
    if page.more { Ok(()) } else { lines.release() }
}

fn ending(end: LogEnd) -> String {
    match end {
        LogEnd::Ended(state) => format!("{} {}", dim("the run has ended:"), paint_status(state.as_str())),
        LogEnd::Asked => format!("{} {}", dim("the run has ended:"), paint_status("waiting for your answer")),
        LogEnd::Deserted => {
            "this run lost its keeper; `fleet start` starts a runner that repairs it".to_owned()
        }
    }
}

fn write(piece: &OutputPiece) -> std::io::Result<()> {
    match piece {
        OutputPiece::Bytes(bytes) => Stdout.write_all(&bytes.0)?,
        OutputPiece::Gap(left_out) => writeln!(Stdout, "\n{}", render::gap(*left_out))?,
    }
    Stdout.flush()
}

/// Prints lines: all at once, or first the last few of those that exist at the start.
struct LogLines {
    form: LogForm,
    held: Option<(usize, VecDeque<String>)>,
}

enum LogForm {
    Json,
    People(Renderer),
}

impl LogLines {
    fn take(&mut self, events: &[AgentEvent]) -> Done {
        let mut lines = Vec::new();
        for event in events {
            match &mut self.form {
                LogForm::Json => lines.push(event.log_line(render::trouble(event)).to_string()),
                LogForm::People(renderer) => lines.extend(renderer.lines(event)),
            }
        }
        self.add(lines)
    }

    fn add(&mut self, lines: Vec<String>) -> Done {
        match &mut self.held {
            None if lines.is_empty() => Ok(()),
            None => print(&lines.join("\n")),
            Some((most, held)) => {
                held.extend(lines);
                held.drain(..held.len().saturating_sub(*most));
                Ok(())
            }
        }
    }

    /// Nothing more is read: what looked like the beginning of a report is shown.
    fn finish(&mut self) -> Done {
        let LogForm::People(renderer) = &mut self.form else { return Ok(()) };
        let rest = renderer.rest();
        if rest.is_empty() { Ok(()) } else { print(&rest.join("\n")) }
    }

    /// The end was reached once: what was held back is shown, and from now on everything.
    fn release(&mut self) -> Done {
        let Some((_, held)) = self.held.take() else { return Ok(()) };
        if held.is_empty() { Ok(()) } else { print(&Vec::from(held).join("\n")) }
    }
}
