use std::path::PathBuf;

use clap::Args;
use fleet_api::verbs::workflow_run::{Request, WorkflowPlan};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::text::{escaped, escaped_lines};

use super::super::Context;
use super::super::launching::left_behind;
use super::super::text_input::{read_path, read_stdin};
use super::ending;
use crate::Done;
use crate::output::{agent_and_model, columns, count, dim, strong, table};

/// Run a workflow, and follow it
///
/// WORKFLOW is the path of a file, or a name: of a file in `.fleet/workflows` of the repository, of one in `workflows`
/// in the home of codefleet, or of one that comes with codefleet (`fleet workflow init --list`). Everything is checked
/// before anything starts. Each stage is a task with its own branch, and starts when the stages it needs have
/// finished. Ctrl-C stops following; the agents keep running.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 30)]
pub(crate) struct Run {
    /// The workflow: a file or a name
    workflow: String,
    /// The task [default: from the file]
    #[arg(short, long, value_name = "TEXT", conflicts_with_all = ["task_file", "stdin"])]
    task: Option<String>,
    /// Read the task from a file (`-` is standard input)
    #[arg(long, value_name = "FILE", conflicts_with = "stdin")]
    task_file: Option<PathBuf>,
    /// Read the task from standard input
    #[arg(value_name = "-", value_parser = ["-"], hide_possible_values = true)]
    stdin: Option<String>,
    #[command(flatten)]
    request: Request,
    /// Detach: return as soon as it is queued
    #[arg(short, long)]
    detach: bool,
    /// Only show the stages and the prompts of the first ones
    #[arg(long = "dry-run", conflicts_with = "detach")]
    only_show: bool,
}

const EXAMPLES: &str = "Examples:
  fleet workflow run write-review-refine --task \"Validate the input of the login form\"
  fleet workflow run ./release.toml --set version=1.4 --detach
  fleet workflow run compete-judge --task \"Speed up the parser\" --agent demo";

impl Run {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let (detach, is_here) = (self.detach, self.request.base.is_none());
        let answer = context.call(self.request(context)?).await.map_err(instead)?;
        let (plan, Some(started)) = (&answer.plan, &answer.workflow) else {
            return context.output.show(&answer.plan, || picture(&answer.plan));
        };
        context.first_use(plan.agents()).await?;
        if is_here {
            left_behind(context, &plan.base).await;
        }
        ending::see(context, started, detach).await
    }

    fn request(self, context: &Context) -> Outcome<Request> {
        let task = match (self.task, self.task_file) {
            (Some(text), _) => Some(text),
            (None, Some(path)) => Some(read_path(&path)?),
            (None, None) if self.stdin.is_none() => None,
            (None, None) => Some(read_stdin()?),
        };
        if task.as_deref().is_some_and(|text| text.trim().is_empty()) {
            let problem = Problem::new(Code::InvalidValue, "the task is empty");
            return Err(problem.hint("`--task TEXT`, `--task-file FILE`, or `-` for standard input"));
        }
        let (workflow, from) = (super::source(context, self.workflow)?, std::env::current_dir().ok());
        Ok(Request { workflow, from, task, dry_run: self.only_show, ..self.request })
    }
}

/// What the options of this command can do about it.
fn instead(problem: Problem) -> Problem {
    match problem.code {
        Code::AgentMissing => problem.hint("`--agent NAME` replaces all agents"),
        Code::WorkflowInvalid => {
            problem.hint("`--task TEXT` and `--set NAME=VALUE` fill in what the file leaves open")
        }
        _ => problem,
    }
}

fn picture(plan: &WorkflowPlan) -> String {
    let column = columns(&plan.stages);
    let stages = table(vec![
        column("STAGE", &|stage| stage.name.clone()).giving_way(),
        column("AFTER", &|stage| stage.needs.join(", ")).giving_way(),
        column("AGENT", &|stage| agent_and_model(Some(&stage.agent), stage.model.as_deref())).giving_way(),
        column("START", &|stage| stage.start.to_string()),
        column("WHEN", &|stage| stage.when.clone().unwrap_or_default()).giving_way(),
    ]);
    let commit: String = plan.base.chars().take(12).collect();
    let head = format!(
        "{}: {} from {commit}; nothing was started",
        strong(&escaped(&plan.name)),
        count(plan.stages.len(), "stage")
    );
    let prompts = plan.stages.iter().filter_map(|stage| {
        let prompt = stage.prompt.as_ref()?;
        Some(format!(
            "{}\n{}",
            dim(&format!("prompt of {}", escaped(&stage.name))),
            escaped_lines(prompt.trim_end())
        ))
    });
    [head, stages].into_iter().chain(prompts).collect::<Vec<_>>().join("\n\n")
}
