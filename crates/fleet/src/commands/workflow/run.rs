use std::path::PathBuf;

use clap::Args;
use fleet_api::verbs::workflow_run::{Plan, PlannedStage, Request};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::text::{escaped, escaped_lines};

use super::super::Context;
use super::super::launching::{left_behind, wake};
use super::super::text_input::{read_path, read_stdin};
use super::ending;
use crate::Done;
use crate::follow::follow_workflow;
use crate::output::{Column, agent_and_model, count, dim, strong, table};

/// Run a workflow, and follow it
///
/// WORKFLOW is the path of a file, or a name: of a file in `.fleet/workflows` of the repository, of one in `workflows` in
/// the home of codefleet, or of one that comes with codefleet (`fleet workflow init --list`). Everything is checked
/// before anything starts. Each stage is a task with a branch of its own, and starts when what it needs is over. Ctrl-C
/// stops the following, not the work.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 30)]
pub(crate) struct Run {
    /// The workflow: a file or a name
    workflow: String,
    /// What all of it is for [default: what the file says]
    #[arg(short, long, value_name = "TEXT", conflicts_with_all = ["task_file", "stdin"])]
    task: Option<String>,
    /// Read the task from a file (`-` is standard input)
    #[arg(long, value_name = "FILE", conflicts_with = "stdin")]
    task_file: Option<PathBuf>,
    /// Read the task from standard input
    #[arg(value_name = "-", value_parser = ["-"], hide_possible_values = true)]
    stdin: Option<String>,
    /// Set a parameter of the workflow; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE")]
    params: Vec<String>,
    /// The agent of every stage, whatever the file says: models and arguments for others are left out
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Where the work starts: a branch, tag or commit [default: HEAD]
    #[arg(long, value_name = "REF")]
    base: Option<String>,
    /// The priority of its tasks: 1 to 5, 5 first [default: 5]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    priority: Option<i64>,
    /// Do not follow it: answer as soon as it is queued
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
        let (detach, is_here) = (self.detach, self.base.is_none());
        let answer = context.call(self.request(context)?).await.map_err(instead)?;
        let (plan, Some(started)) = (&answer.plan, &answer.workflow) else {
            return context.output.show(&answer.plan, || picture(&answer.plan));
        };
        context.first_use(plan.agents()).await?;
        if is_here {
            left_behind(context, &plan.base).await;
        }
        wake(context).await;
        let (id, name) = (started.workflow.id, &started.workflow.name);
        if detach {
            return context.output.show(started, || format!("{}  {}", strong(id.as_str()), escaped(name)));
        }
        context.output.note(&dim(&format!("workflow {id}  {}", escaped(name))));
        let (seen, end) = follow_workflow(context, id).await?;
        ending::conclude(context, &seen, end).await
    }

    fn request(self, context: &Context) -> Outcome<Request> {
        let task = match (self.task, self.task_file) {
            (Some(text), _) => Some(text),
            (None, Some(path)) => Some(read_path(&path)?),
            (None, None) if self.stdin.is_none() => None,
            (None, None) => Some(read_stdin()?),
        };
        if task.as_deref().is_some_and(|text| text.trim().is_empty()) {
            let problem = Problem::new(Code::InvalidValue, "the task is empty: say what is to be done");
            return Err(problem.hint("`--task TEXT`, `--task-file FILE`, or `-` for standard input"));
        }
        let Self { workflow, params: set, agent, base, priority, only_show: dry_run, .. } = self;
        let (workflow, from) = (super::source(context, workflow)?, std::env::current_dir().ok());
        Ok(Request { workflow, from, task, set, agent, base, priority, dry_run })
    }
}

/// What the options of this command can do about it.
fn instead(problem: Problem) -> Problem {
    match problem.code {
        Code::AgentMissing => problem.hint("`--agent NAME` puts one of these in the place of all"),
        Code::WorkflowInvalid => {
            problem.hint("`--task TEXT` and `--set NAME=VALUE` say what the file leaves open")
        }
        _ => problem,
    }
}

fn picture(plan: &Plan) -> String {
    let column = |cell: fn(&PlannedStage) -> String| plan.stages.iter().map(cell).collect::<Vec<_>>();
    let stages = table(vec![
        Column::new("STAGE", column(|stage| stage.name.clone())).giving_way(),
        Column::new("AFTER", column(|stage| stage.needs.join(", "))).giving_way(),
        Column::new("AGENT", column(|stage| agent_and_model(Some(&stage.agent), stage.model.as_deref())))
            .giving_way(),
        Column::new("START", column(|stage| stage.start.to_string())),
        Column::new("WHEN", column(|stage| stage.when.clone().unwrap_or_default())).giving_way(),
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
            dim(&format!("what {} is told", escaped(&stage.name))),
            escaped_lines(prompt.trim_end())
        ))
    });
    [head, stages].into_iter().chain(prompts).collect::<Vec<_>>().join("\n\n")
}
