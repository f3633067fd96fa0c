//! `fleet diff`

use std::io::{IsTerminal, Write};

use clap::Args;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_engine::verbs::run_diff::{self, Color, Comparison, DiffStyle, Of, Request, Which};

use super::Context;
use crate::Done;
use crate::output::{Painter, Stdout, dim, is_colored, terminal};

/// Show what a run changed
///
/// Compares the branch of a run with the commit that it started from. While the agent is at work, its files are
/// compared as they are, committed or not. Into a pipe it goes byte for byte, as `git apply` reads it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
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
        let snapshot =
            self.snapshot.map(|number| if number == 0 { Which::Newest } else { Which::Number(number) });
        let request = Request { id: self.id, snapshot };
        let comparison = run_diff::find(&context.engine, &request).await?;
        if context.output.is_json() {
            let summary = comparison.summary()?;
            return context.output.show(&summary, String::new);
        }
        if let (Of::Snapshot(name), None) = (comparison.of(), snapshot) {
            context
                .output
                .note(&dim(&format!("what {name} holds: the branch is gone, or a later attempt's")));
        }
        if !show(&comparison, self.stat)? {
            context.output.note(match comparison.of() {
                Of::Workspace => "no changes so far",
                Of::Branch | Of::Snapshot(_) => "no changes",
            });
        }
        Ok(())
    }
}

/// Whether there was anything to show.
fn show(comparison: &Comparison, stat: bool) -> Outcome<bool> {
    let width = terminal().map_or(100, |(width, _)| u16::try_from(width).unwrap_or(u16::MAX));
    let color = Color::Never;
    let for_people = std::io::stdout().is_terminal() || is_colored();
    let style = match (stat, for_people) {
        (true, _) => DiffStyle::Stat { width, color },
        (false, true) => DiffStyle::Patch { color },
        (false, false) => DiffStyle::Apply,
    };
    let failed = |error| Problem::new(Code::Io, format!("cannot write to standard output: {error}"));
    // For people it is made safe and colourful; programs get what git says.
    if for_people {
        let mut painter = Painter::new(Stdout);
        comparison.write(style, &mut painter)?;
        return painter.finish().map_err(failed);
    }
    let mut counted = Counted { out: Stdout, is_empty: true };
    comparison.write(style, &mut counted)?;
    counted.flush().map_err(failed)?;
    Ok(!counted.is_empty)
}

/// Knows whether anything was written.
struct Counted<W> {
    out: W,
    is_empty: bool,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.is_empty &= bytes.is_empty();
        self.out.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}
