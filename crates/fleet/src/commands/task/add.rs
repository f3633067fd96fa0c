//! `fleet task add`

use clap::Args;
use fleet_api::verbs::task_add::{Answer, Duplicates, Request};
use fleet_api::views::TaskView;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::text::escaped;

use super::super::Context;
use super::super::text_input::TextInput;
use super::similar;
use crate::Done;
use crate::output::{dim, paint_status, print, strong};

/// Add a task to the queue of this repository
///
/// The task is durable when the command answers.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 10)]
pub(crate) struct Add {
    /// What is to be done, in one line
    title: String,
    #[command(flatten)]
    text: TextInput,
    /// How urgent: 5 is served first, 1 last [default: `tasks.priority`, 3]
    #[arg(short, long, value_name = "1-5", allow_negative_numbers = true)]
    priority: Option<i64>,
    /// A word to find it by; may be repeated
    #[arg(short, long = "label", value_name = "LABEL", value_delimiter = ',')]
    labels: Vec<String>,
    /// Files that it will touch: tasks whose scopes overlap never run together; may be repeated
    #[arg(long, value_name = "GLOB")]
    scope: Vec<String>,
    /// Start it only after this task is done; may be repeated
    #[arg(long, value_name = "ID")]
    after: Vec<String>,
    /// Which agent does it [default: `agent`]
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Which model the agent uses [default: `agents.AGENT.model`]
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Where the work starts: a branch, tag or commit [default: HEAD when it starts]
    #[arg(long, value_name = "REF")]
    base: Option<String>,
    /// The branch that the work goes to [default: made from the id]
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    /// What a run may use at most: time=30m, idle=10m, tokens=200k, usd=2.50; may be repeated
    #[arg(long = "limit", value_name = "LIMIT")]
    limits: Vec<String>,
    /// How often a failed run is tried again [default: `tasks.retries`, 2]
    #[arg(long, value_name = "N")]
    retries: Option<u32>,
    /// Do not start it earlier: 2h (from now), 14:30, 2026-12-24, or RFC 3339
    #[arg(long, value_name = "TIME")]
    not_before: Option<String>,
    /// How big it is: trivial, small, medium, large, xl
    #[arg(long, value_name = "SIZE")]
    complexity: Option<String>,
    /// Anything you want to keep with it; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    meta: Vec<String>,
    /// It is only to look: nothing has to change for it to be done
    #[arg(long)]
    read_only: bool,
    /// Add it, but do not start it before `fleet task release`
    #[arg(long)]
    hold: bool,
    /// Do not add it if there is a task that says nearly the same: as alike as this, from 0 to 1 [default: 0.7]
    #[arg(long, value_name = "SCORE", num_args = 0..=1, require_equals = true, default_missing_value = "0.7")]
    unless_similar: Option<f64>,
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
        if self.title == "-" {
            return Err(Problem::new(Code::Usage, "`-` reads the description; a title is needed before it")
                .hint("`fleet task add \"What is to be done\" -`"));
        }
        let request = Request {
            title: self.title,
            description: self.text.read()?,
            priority: self.priority,
            labels: self.labels,
            scope: self.scope,
            complexity: self.complexity,
            after: self.after,
            agent: self.agent,
            model: self.model,
            base: self.base,
            branch: self.branch,
            limits: self.limits,
            retries: self.retries,
            not_before: self.not_before,
            meta: self.meta,
            read_only: self.read_only,
            hold: self.hold,
            duplicates: if self.unless_similar.is_some() { Duplicates::Refuse } else { Duplicates::Ignore },
            threshold: self.unless_similar,
        };
        let added = context.call(request).await?;
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
        Problem::new(Code::SimilarTask, format!("nothing was added: {nearest} says nearly the same"))
            .hint(format!("`fleet task show {nearest}` shows it"))
            .hint("without --unless-similar it is added all the same")
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
