//! `fleet logs`

mod render;

use std::collections::VecDeque;
use std::io::Write;

use clap::Args;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_engine::verbs::run_logs::{
    self, Decoded, End, Following, Log, LogEntry, LogReader, Piece, Request, Stream,
};

use super::Context;
use crate::Done;
use crate::output::{Stdout, dim, paint_status, print};
use render::Renderer;

/// Show what the agent of a run says and does
///
/// Works while the agent runs and afterwards. What agents print is made safe for your terminal; with --raw it comes
/// byte for byte. Of very long logs the middle is left out, and a line says so.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Logs {
    /// The run: its id, the id of its task, or its branch
    id: String,
    /// Only the last so many lines
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    lines: Option<u32>,
    /// Keep showing what comes, until the run ends
    #[arg(short, long)]
    follow: bool,
    /// Byte for byte, as the agent printed it
    #[arg(long)]
    raw: bool,
    /// Standard error instead of standard output
    #[arg(long)]
    stderr: bool,
    /// This attempt at the task instead of the newest
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    attempt: Option<i64>,
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
        let stream = if self.stderr { Stream::Err } else { Stream::Out };
        let request = Request { id: self.id.clone(), attempt: self.attempt, stream };
        let log = run_logs::find(&context.engine, &request).await?;
        let mut following =
            if self.follow { Some(Following::new(&context.engine, &log).await?) } else { None };
        let found = log.clone();
        let last = self.lines.map(|lines| lines as usize);
        let mut source = if self.raw { Source::raw(log, last)? } else { Source::decoded(log, last, context) };
        loop {
            // What is known of the end was known before the rest is read, so nothing is missed.
            let is_over = following.as_ref().is_none_or(|following| following.end().is_some());
            source.show(is_over)?;
            match &mut following {
                Some(following) if !is_over => following.wait().await?,
                _ => break,
            }
        }
        if source.is_empty() {
            context.output.note("the agent has printed nothing");
        }
        if found.has_errors() && !self.stderr && !self.raw {
            context.output.note(&dim(&format!("`fleet logs {} --stderr` shows standard error", self.id)));
        }
        if let Some(end) = following.and_then(|following| following.end()) {
            context.output.note(&ending(end));
        }
        Ok(())
    }
}

fn ending(end: End) -> String {
    match end {
        End::Ended(state) => format!("{} {}", dim("the run has ended:"), paint_status(state.as_str())),
        End::Deserted => {
            "nobody looks after this run any more; `fleet start` starts a runner that does".to_owned()
        }
    }
}

/// Where the lines come from, and in what form.
enum Source {
    Raw { log: Log, reader: LogReader },
    Decoded { decoded: Decoded, lines: Lines },
}

impl Source {
    fn raw(log: Log, last: Option<usize>) -> Outcome<Self> {
        let reader = log.bytes(last)?;
        Ok(Self::Raw { log, reader })
    }

    fn decoded(log: Log, last: Option<usize>, context: &Context) -> Self {
        let form = if context.output.is_json() { Form::Json } else { Form::People(Renderer::default()) };
        Self::Decoded {
            decoded: log.decoded(),
            lines: Lines { form, held: last.map(|last| (last, VecDeque::new())) },
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Raw { reader, .. } => reader.position() == 0,
            Self::Decoded { decoded, .. } => decoded.is_empty(),
        }
    }

    /// Shows all that is there.
    fn show(&mut self, is_over: bool) -> Done {
        match self {
            Self::Raw { log, reader } => {
                while let Some(piece) = log.piece(reader)? {
                    write(&piece).map_err(|error| {
                        Problem::new(Code::Io, format!("cannot write to standard output: {error}"))
                    })?;
                }
                Ok(())
            }
            Self::Decoded { decoded, lines } => {
                while let Some(entries) = decoded.entries()? {
                    lines.take(entries)?;
                }
                if is_over {
                    lines.take(decoded.finish())?;
                }
                lines.release()
            }
        }
    }
}

fn write(piece: &Piece) -> std::io::Result<()> {
    match piece {
        Piece::Bytes { bytes, .. } => Stdout.write_all(bytes)?,
        Piece::Gap { left_out, .. } => writeln!(Stdout, "\n{}", render::gap(*left_out))?,
    }
    Stdout.flush()
}

/// Lines on their way out: at once, or the last so many of those that are there at the beginning.
struct Lines {
    form: Form,
    held: Option<(usize, VecDeque<String>)>,
}

enum Form {
    Json,
    People(Renderer),
}

impl Lines {
    fn take(&mut self, entries: Vec<LogEntry>) -> Done {
        let mut lines = Vec::new();
        for entry in entries {
            match &mut self.form {
                Form::Json => lines.push(serde_json::json!(entry).to_string()),
                Form::People(renderer) => lines.extend(renderer.lines(&entry)),
            }
        }
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

    /// The end was reached once: what was held back is shown, and from now on everything.
    fn release(&mut self) -> Done {
        let Some((_, held)) = self.held.take() else { return Ok(()) };
        if held.is_empty() { Ok(()) } else { print(&Vec::from(held).join("\n")) }
    }
}
