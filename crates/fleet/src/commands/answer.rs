use clap::Args;
use fleet_api::verbs::question_answer::{Answer as Answered, Request};
use fleet_core::problem::{Code, Problem};
use fleet_core::task::TaskState;
use fleet_core::text::escaped;

use super::Context;
use super::text_input::read_stdin;
use crate::Done;
use crate::output::{count, strong};

/// Answer a question of an agent
///
/// The first answer counts: a second one is refused, with the name of who answered. An agent that waits gets it at once; a
/// task whose run ended with the question is queued again, and continues its conversation with the answer. `fleet inbox`
/// lists the open questions.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 151)]
pub(crate) struct Answer {
    /// The question, by its id; or its task, by id or branch, if that has one open question
    id: String,
    /// The number of an option, or its text; any text, if there are no options; `-` reads it from standard input
    #[arg(value_name = "ANSWER", required_unless_present = "text")]
    choice: Option<String>,
    /// Answer in your own words, even if there are options
    #[arg(long, value_name = "TEXT", conflicts_with = "choice")]
    text: Option<String>,
}

const EXAMPLES: &str = "Examples:
  fleet answer fix-login 2
  fleet answer t0skybd1r4x2kqm.3 \"Keep the old table\"
  fleet answer fix-login --text \"Neither: ask again when the schema is merged\"
  fleet answer fix-login - < notes.md";

impl Answer {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let own_words = self.text.is_some();
        let answer = match self.text.or(self.choice) {
            Some(text) if text == "-" && !own_words => read_stdin()?,
            Some(text) => text,
            None => return Err(Problem::new(Code::Usage, "the answer is missing")),
        };
        let answered = context.call(Request { id: self.id, answer, own_words }).await?;
        if answered.task.state == TaskState::Queued {
            context.work_was_queued().await;
        }
        context.output.show(&answered, || line(&answered))
    }
}

fn line(answered: &Answered) -> String {
    let given = answered.question.answer.as_deref().unwrap_or_default();
    let what = match (answered.open, answered.task.state, answered.run) {
        (0, TaskState::Queued, _) => "requeued; the agent continues with it".to_owned(),
        (_, TaskState::Running, Some(run)) => format!("the agent gets it in run {run}"),
        (0, _, _) => "its agent gets it in the next run".to_owned(),
        (open, _, _) => {
            format!("{} open: the task continues when all are answered", count(open, "other question"))
        }
    };
    format!("{}  answered: {}; {what}", strong(&answered.question.id), escaped(given))
}
