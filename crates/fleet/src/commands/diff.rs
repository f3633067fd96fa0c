use std::io::{IsTerminal, Write};

use clap::Args;
use fleet_api::verbs::run_diff::{Answer, DiffSide, Request, SnapshotChoice, Style};
use fleet_core::problem::{Code, Outcome, Problem};

use super::Context;
use crate::Done;
use crate::output::{Painter, Stdout, dim, is_colored, terminal};

/// Show what a run changed
///
/// Compares the branch of a run with the commit that it started from. While the agent runs, its files are
/// compared as they are, committed or not. Into a pipe it goes byte for byte, as `git apply` reads it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 110)]
pub(crate) struct Diff {
    /// The run: its id, the id of its task, or its branch
    id: String,
    /// One line for each file
    #[arg(long)]
    stat: bool,
    /// What a snapshot holds, the newest or the one of this number, instead of the branch
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "0")]
    snapshot: Option<u64>,
}

const EXAMPLES: &str = "Examples:
  fleet diff login-fix
  fleet diff login-fix --stat
  fleet diff login-fix | git apply      # without the branch";

impl Diff {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let snapshot = self
            .snapshot
            .map(|number| if number == 0 { SnapshotChoice::Newest } else { SnapshotChoice::Number(number) });
        let request = Request { id: self.id, snapshot, limit: Some(PAGE), ..Request::default() };
        if context.output.is_json() {
            let found = context.call(Request { summary: true, ..request }).await?;
            return context.output.show(&found.summary, String::new);
        }
        let request = Request { style: Some(style(self.stat)), ..request };
        let first = context.call(request.clone()).await?;
        if let (Some(DiffSide::Snapshot(name)), None) = (&first.of, snapshot) {
            context
                .output
                .note(&dim(&format!("what {name} holds: the branch is gone, or a later attempt's")));
        }
        let nothing = match first.of {
            Some(DiffSide::Workspace) => "no changes so far",
            _ => "no changes",
        };
        if !show(context, request, first).await? {
            context.output.note(nothing);
        }
        Ok(())
    }
}

/// So many bytes are fetched at once: each page costs git the ones before it.
const PAGE: u32 = 8 << 20;

fn style(stat: bool) -> Style {
    let width = terminal().map_or(100, |(width, _)| u16::try_from(width).unwrap_or(u16::MAX));
    let for_people = std::io::stdout().is_terminal() || is_colored();
    match (stat, for_people) {
        (true, _) => Style::Stat(width),
        (false, true) => Style::Patch,
        (false, false) => Style::Apply,
    }
}

/// Shows a difference from this page on, as `fleet diff` does.
pub(super) async fn show_page(context: &Context, request: Request, stat: bool) -> Done {
    let request = Request { style: Some(style(stat)), limit: Some(PAGE), ..request };
    let first = context.call(request.clone()).await?;
    show(context, request, first).await.map(drop)
}

/// Whether there was anything to show.
async fn show(context: &Context, request: Request, first: Answer) -> Outcome<bool> {
    // A patch for programs stays byte for byte; everything else is read by people, so it is made safe and colourful.
    if request.style == Some(Style::Apply) {
        return write(context, request, first, &mut Stdout).await;
    }
    let mut painter = Painter::new(Stdout);
    let is_any = write(context, request, first, &mut painter).await?;
    painter.finish().map_err(|error| failed(&error))?;
    Ok(is_any)
}

async fn write(
    context: &Context,
    mut request: Request,
    mut page: Answer,
    out: &mut (dyn Write + Send),
) -> Outcome<bool> {
    let mut is_any = false;
    loop {
        is_any |= !page.text.0.is_empty();
        out.write_all(&page.text.0).and_then(|()| out.flush()).map_err(|error| failed(&error))?;
        if page.next.is_none() {
            return Ok(is_any);
        }
        request.after = page.next;
        page = context.call(request.clone()).await?;
    }
}

fn failed(error: &std::io::Error) -> Problem {
    Problem::new(Code::Io, format!("cannot write to standard output: {error}"))
}
