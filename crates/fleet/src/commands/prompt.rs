use std::path::PathBuf;

use clap::Args;
use fleet_api::verbs::run_prompt::{Answer, Request};
use fleet_core::message::{MessageKind, Reception};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::text::escaped;

use super::Context;
use super::text_input::{read_path, read_stdin};
use crate::Done;
use crate::output::{paint_status, strong};

/// Say more to an agent: while it works, before it starts, or after it has ended
///
/// An agent at work is told at once if it can be spoken to, else when its turn ends. A task that waits in the queue keeps
/// what you say, and its agent is told with the task. A task that is over (done, failed or cancelled) is queued again: its
/// agent goes on with the same conversation, if it can, and with the work that is on its branch.
///
/// Nothing that you say is lost: it is kept until an agent has it, however many runs that takes. `fleet task show ID`
/// shows what was said, and how far it came: waiting, delivered or seen.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 150)]
pub(crate) struct Prompt {
    /// The task, by its id, its branch, or the id of a run
    id: String,
    /// What to say; `-` reads it from standard input
    text: Option<String>,
    /// Read what to say from a file (`-` is standard input)
    #[arg(long, value_name = "FILE", conflicts_with = "text")]
    file: Option<PathBuf>,
    /// Do not interrupt an agent at work: the next run is told, which begins when this one has ended
    #[arg(long)]
    later: bool,
}

const EXAMPLES: &str = "Examples:
  fleet prompt fix-login \"Add a test for the empty password, too\"
  fleet prompt t0skybd1r --file review.md
  fleet prompt fix-login --later \"Then write the changelog\"
  git diff main...fix-login | my-linter | fleet prompt fix-login -";

impl Prompt {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let kind = if self.later { MessageKind::FollowUp } else { MessageKind::Prompt };
        let request = Request { text: read(self.text, self.file)?, id: self.id, kind };
        let told = context.call(request).await?;
        if told.reception != Reception::Held {
            context.work_was_queued().await;
        }
        context.output.show(&told, || line(&told))
    }
}

fn read(text: Option<String>, file: Option<PathBuf>) -> Outcome<String> {
    match (text, file) {
        (Some(text), _) if text == "-" => read_stdin(),
        (Some(text), _) => Ok(text),
        (None, Some(file)) => read_path(&file),
        (None, None) => Err(Problem::new(Code::Usage, "there is nothing to say")
            .hint("`fleet prompt ID \"…\"`, `--file FILE`, or `-` for standard input")),
    }
}

fn line(told: &Answer) -> String {
    let task = &told.task;
    let what = match (told.reception, told.run) {
        (Reception::Live, Some(run)) => {
            let agent = told.agent.as_deref().unwrap_or("its agent");
            format!(
                "queued for {} in run {run}: it is passed on at once if the agent can take it, else when its turn ends",
                escaped(agent)
            )
        }
        (Reception::Kept, Some(run)) => format!("kept: its agent is told when run {run} has ended"),
        (Reception::Live | Reception::Kept, _) => "kept: its agent is told when it starts".to_owned(),
        (Reception::Held, _) => {
            format!("kept: its agent is told when it starts; `fleet task release {}` lets it", task.id)
        }
        (Reception::Reopened, _) => {
            "queued again: its agent goes on with this, on the same branch".to_owned()
        }
    };
    format!("{}  {}  {what}", strong(task.id.as_str()), paint_status(&task.status))
}
