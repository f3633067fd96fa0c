mod several;
mod status;

use std::path::PathBuf;

use clap::Args;
use fleet_api::verbs::run_prompt::{Answer, Request};
use fleet_core::glob::NamePattern;
use fleet_core::id::BatchId;
use fleet_core::message::{MessageKind, Reception};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::text::escaped;

use super::Context;
use super::text_input::{read_path, read_stdin};
use crate::Done;
use crate::output::{paint_status, strong};

/// Send a message to an agent, before, during or after its run
///
/// A running agent gets it at once if it accepts input, otherwise when its turn ends. A queued task keeps the message,
/// and its agent gets it together with the task. A finished task (done, failed or cancelled) is requeued: its agent
/// continues the same conversation, if it can, from the work on its branch.
///
/// A pattern for branches or the id of a batch means all their tasks that have not finished; each gets the message once.
///
/// Messages are never lost: they are stored until an agent has seen them, however many runs that takes. `fleet prompt
/// --status` shows each message and its state: waiting, delivered or seen.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 150)]
pub(crate) struct Prompt {
    /// The task, by its id, its branch, or the id of a run; or several, by a batch or a pattern such as 'login-*'
    #[arg(required_unless_present_any = ["status", "cancel"])]
    id: Option<String>,
    /// The message; `-` reads it from standard input
    #[arg(conflicts_with_all = ["status", "cancel"])]
    text: Option<String>,
    /// Read the message from a file (`-` is standard input)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["text", "status", "cancel"])]
    file: Option<PathBuf>,
    /// Do not interrupt a running agent; deliver it to the next run
    #[arg(long, conflicts_with_all = ["status", "cancel"])]
    later: bool,
    /// With a pattern or a batch: finished tasks, too, which requeues them
    #[arg(long, conflicts_with_all = ["status", "cancel"])]
    all: bool,
    /// Show messages and how far each came: those to ID, or all that no agent of this repository has seen yet
    #[arg(long, conflicts_with = "cancel")]
    status: bool,
    /// Take back a message that no agent has been given
    #[arg(long, value_name = "ID.N", conflicts_with = "id")]
    cancel: Option<String>,
}

const EXAMPLES: &str = "Examples:
  fleet prompt fix-login \"Add a test for the empty password, too\"
  fleet prompt t0skybd1r --file review.md
  fleet prompt fix-login --later \"Then write the changelog\"
  fleet prompt 'login-*' \"Use the new test helper\"
  fleet prompt --status
  fleet prompt --cancel fix-login.3
  git diff main...fix-login | my-linter | fleet prompt fix-login -";

impl Prompt {
    pub(crate) async fn run(self, context: &Context) -> Done {
        if let Some(message) = &self.cancel {
            return status::cancel(context, message).await;
        }
        if self.status {
            return status::show(context, self.id).await;
        }
        let Some(id) = self.id else { return Err(empty()) };
        let kind = if self.later { MessageKind::FollowUp } else { MessageKind::Prompt };
        let text = read(self.text, self.file)?;
        if NamePattern::has_wildcards(&id) || id.parse::<BatchId>().is_ok() {
            let wish = several::Wish { pattern: id, finished: self.all, text, kind };
            return several::prompt(context, wish).await;
        }
        let told = context.call(Request { text, id, kind }).await?;
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
        (None, None) => Err(empty()),
    }
}

fn empty() -> Problem {
    Problem::new(Code::Usage, "the message is empty")
        .hint("`fleet prompt ID \"…\"`, `--file FILE`, or `-` for standard input")
}

fn line(told: &Answer) -> String {
    let task = &told.task;
    let what = match (told.reception, told.run) {
        (Reception::Live, Some(run)) => {
            let agent = told.agent.as_deref().unwrap_or("its agent");
            format!(
                "queued for {} in run {run}: delivered at once if the agent accepts input, otherwise when its \
                 turn ends",
                escaped(agent)
            )
        }
        (Reception::Kept, Some(run)) => format!("stored; its agent gets it when run {run} has ended"),
        (Reception::Live | Reception::Kept, _) => "stored; its agent gets it when it starts".to_owned(),
        (Reception::Held, _) => {
            format!(
                "stored; its agent gets it when it starts; `fleet task release {}` lets it start",
                task.id
            )
        }
        (Reception::Reopened, _) => "requeued; the agent continues on the same branch".to_owned(),
    };
    format!("{}  {}  {what}", strong(task.id.as_str()), paint_status(&task.status))
}
