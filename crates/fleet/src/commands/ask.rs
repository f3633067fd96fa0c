use std::time::Duration;

use clap::Args;
use fleet_api::verbs::{question_ask, question_receive, question_wait};
use fleet_api::views::QuestionView;
use fleet_core::problem::{Code, Problem};
use fleet_core::text::escaped_lines;
use fleet_core::time::Span;

use super::Context;
use super::text_input::read_stdin;
use crate::Done;

/// For agents: ask a person, and wait for the answer
///
/// Prints the answer. Waiting takes none of the time limits of the run. If the call is cut off, ask again with the same
/// words: it is the same question, and its answer is not lost.
///
/// With --park it does not wait: the run ends at once with all work kept, and the task continues with the answer.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 395)]
pub(crate) struct Ask {
    /// The question; `-` reads it from standard input
    question: String,
    /// An answer to choose from; may be repeated
    #[arg(long = "option", value_name = "ANSWER")]
    options: Vec<String>,
    /// The answer if nobody answers in time
    #[arg(long, value_name = "ANSWER", requires = "timeout")]
    default: Option<String>,
    /// How long to wait before the default counts: 90s, 10m, 2h
    #[arg(long, value_name = "SPAN", requires = "default")]
    timeout: Option<Span>,
    /// Do not wait: end the run, and continue with the answer
    #[arg(long)]
    park: bool,
}

const EXAMPLES: &str = "Examples, inside a run:
  fleet ask \"Which database?\" --option SQLite --option PostgreSQL
  fleet ask \"Delete the old table?\" --option yes --option no --default no --timeout 10m
  fleet ask --park \"What should happen to accounts without an email address?\"";

/// How long a call waits before it asks again.
const WAIT_SECONDS: u32 = 60;

impl Ask {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let text = if self.question == "-" { read_stdin()? } else { self.question };
        let request = question_ask::Request {
            text,
            options: self.options,
            default: self.default,
            timeout_seconds: self.timeout.map(|Span(span)| seconds(span)),
            park: self.park,
        };
        let mut asked = context.call(request).await?;
        if self.park && asked.state == "open" {
            return context.output.show(&asked, || {
                "asked; this run ends now, and the task continues with the answer".to_owned()
            });
        }
        while asked.state == "open" {
            let wait = question_wait::Request { id: asked.id, wait_seconds: Some(WAIT_SECONDS) };
            asked = context.call(wait).await?;
        }
        show(context, &asked)?;
        // Only now the agent has it: if this process is killed before, the next run is told.
        context.call(question_receive::Request { id: asked.id }).await.map(drop)
    }
}

fn show(context: &Context, asked: &QuestionView) -> Done {
    let Some(answer) = &asked.answer else {
        return Err(Problem::new(
            Code::QuestionClosed,
            "the question was withdrawn before anybody answered it",
        )
        .hint("decide yourself, and say so in your report"));
    };
    context.output.show(asked, || escaped_lines(answer).into_owned())
}

/// A default never comes before its time.
fn seconds(span: Duration) -> u64 {
    span.as_secs() + u64::from(span.subsec_nanos() > 0)
}
