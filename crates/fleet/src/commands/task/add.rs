use clap::Args;
use fleet_api::verbs::task_add::{Answer, Duplicates, Request};
use fleet_api::views::TaskView;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::text::escaped;

use super::super::Context;
use super::super::launching::taking;
use super::super::text_input::TextInput;
use super::similar;
use crate::Done;
use crate::output::{dim, paint_status, print, strong};

/// Add a task to the queue of this repository
///
/// The task is on disk when the command returns.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 10)]
pub(crate) struct Add {
    #[command(flatten)]
    request: Request,
    #[command(flatten)]
    text: TextInput,
    /// Print only the id
    #[arg(short, long)]
    quiet: bool,
}

const EXAMPLES: &str = "Examples:
  fleet task add \"Fix the flaky login test\" -p 5 --label bug
  fleet task add \"Port the parser\" --file notes/parser.md --scope 'src/parser/**'
  first=$(fleet task add -q \"Write the API\")
  fleet task add \"Document the API\" --after \"$first\"";

impl Add {
    pub(crate) async fn run(self, context: &Context) -> Done {
        if self.request.title == "-" {
            return Err(Problem::new(Code::Usage, "`-` reads the description; a title is needed before it")
                .hint("`fleet task add \"What is to be done\" -`"));
        }
        let duplicates =
            if self.request.threshold.is_some() { Duplicates::Refuse } else { Duplicates::Ignore };
        let mut request = Request { duplicates, ..self.request };
        request.fields.description = self.text.read()?;
        let is_after = !request.after.is_empty();
        let named_base = request.fields.base.clone().filter(|_| is_after);
        let added = context.call(request).await?;
        if let Some(existing) = added.existing_branch.as_ref().filter(|_| !self.quiet) {
            context.output.note(&taking(existing));
            if is_after {
                context
                    .output
                    .note("note: it starts from that branch, not from the work of the tasks before it");
            }
        }
        let (agent, agent_is_here) = (added.agent.clone(), added.agent_is_here);
        let task = task(context, added)?;
        context.work_was_queued().await;
        if !self.quiet && !task.read_only {
            context.first_use([task.agent.as_deref()]).await?;
        }
        if !self.quiet && !agent_is_here {
            let advice = format!("`fleet task edit {} --agent NAME` chooses another", task.id);
            context.output.note(&format!("note: no agent `{agent}` here, so it waits for one; {advice}"));
        }
        if let Some(base) = named_base.filter(|_| !self.quiet && !context.output.is_json()) {
            context.output.note(&format!(
                "note: it starts from {}, as `--base` says; without `--base` it starts from the work of the tasks \
                 before it",
                escaped(&base)
            ));
        }
        if self.quiet && !context.output.is_json() {
            return print(task.id.as_str());
        }
        context.output.show(&task, || line(&task))
    }
}

/// The new task, or the problem that there was one like it.
fn task(context: &Context, added: Answer) -> Outcome<TaskView> {
    added.task.ok_or_else(|| {
        context.output.note(&similar::rows(&added.similar));
        let nearest = added.similar.first().map(|similar| similar.task.id.to_string()).unwrap_or_default();
        Problem::new(Code::SimilarTask, format!("nothing was added: {nearest} is a near-duplicate"))
            .hint(format!("`fleet task show {nearest}` shows it"))
            .hint("without --unless-similar it is added anyway")
    })
}

fn line(task: &TaskView) -> String {
    let details = dim(&format!("priority {}", task.priority));
    format!(
        "{}  {}  {}  {details}",
        strong(task.id.as_str()),
        paint_status(&task.status),
        escaped(&task.title)
    )
}
