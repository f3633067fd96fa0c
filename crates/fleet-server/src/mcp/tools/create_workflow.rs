use std::collections::BTreeMap;

use fleet_api::Client;
use fleet_api::verbs::workflow_check;
use fleet_api::verbs::workflow_run::Request;
use fleet_api::views::WorkflowSource;
use fleet_core::text::escaped;
use serde_json::Value;

use super::prelude::*;
use crate::mcp::answer::lost;
use crate::mcp::stages::{SentWorkflow, StageArgs};
use crate::mcp::task;
use crate::mcp::wake::ensure_runner;
use crate::mcp::workflow::{self, WorkflowAnswer};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// Absolute path of the git repository, or of a directory in it; the one in which the server was started if left out
    repo_path: Option<String>,
    /// The task: replaces {task_prompt}
    task_prompt: Option<String>,
    /// The name of your workflow; needed with stages
    name: Option<String>,
    /// The stages of your workflow. Commands (checks) and files (prompt_file) can only come from the user's workflow files
    stages: Option<Vec<StageArgs>>,
    /// A ready-made workflow instead, by its name: write-review-refine, parallel-review, compete-judge,
    /// plan-fanout-integrate, bug-hunt, or one of the repository or the user
    workflow: Option<String>,
    /// Values for its parameters
    params: Option<BTreeMap<String, Value>>,
    /// The agent of every stage, instead of their own
    executor: Option<String>,
    /// The commit, branch or tag that it starts from; the current commit if left out
    base_ref: Option<String>,
    /// The agent of a stage without its own limit is stopped after this time; only with stages
    timeout_seconds: Option<u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    #[serde(flatten)]
    workflow: WorkflowAnswer,
    /// Why it does not start, if it cannot
    note: Option<String>,
}

impl Tool for Args {
    type Answer = Answer;
    const TITLE: &'static str = "Start a workflow";
    const ABOUT: &'static str = "Lets several agents work together: a graph of stages, each a worker on its own \
        branch that starts when the stages it needs have finished and gets their results. Use it for write, \
        review, refine; for two that compete and a judge; for a plan whose pieces run in parallel. Everything \
        is checked first; then it returns at once. Then use wait with workflow_ids, and \
        collect_workflow_result. Either stages or workflow is needed.";
    const NATURE: Nature = Nature::Adds;
    const UNKNOWN: Unknown = Unknown::LeftOut;

    async fn run(self, call: Call) -> Outcome<Answer> {
        let here = RepoClient::of(&call, self.repo_path.as_deref())?;
        let (workflow, set) = match (self.stages, self.workflow) {
            (Some(stages), None) => {
                let name = self.name.ok_or_else(unnamed)?;
                let params = self.params.unwrap_or_default();
                let sent = SentWorkflow { name, timeout_seconds: self.timeout_seconds, params, stages };
                (checked(&here, &sent, (&self.task_prompt, &self.executor)).await?, Vec::new())
            }
            (None, Some(workflow)) => {
                for (field, is_given) in
                    [("name", self.name.is_some()), ("timeout_seconds", self.timeout_seconds.is_some())]
                {
                    refuse_beside_workflow(field, is_given)?;
                }
                (by_name(workflow)?, settings(self.params.unwrap_or_default()))
            }
            (stages, _) => return Err(neither_or_both(stages.is_some())),
        };
        let request = Request {
            workflow,
            from: None,
            task: self.task_prompt,
            set,
            agent: self.executor,
            base: task::base(self.base_ref),
            priority: None,
            dry_run: false,
        };
        let done = fleet_api::call(&here, None, &request).await.map_err(in_our_words)?;
        let note = ensure_runner(&here).await;
        let started = done.workflow.ok_or_else(|| lost("the workflow"))?;
        Ok(Answer { workflow: workflow::one(&call, started).await?, note })
    }
}

/// A workflow that a client sent, if nothing is wrong with it.
async fn checked(
    client: &dyn Client,
    sent: &SentWorkflow,
    (task, agent): (&Option<String>, &Option<String>),
) -> Outcome<WorkflowSource> {
    let source = sent.source()?;
    let request = workflow_check::Request {
        workflows: vec![source.clone()],
        task: task.clone(),
        agent: agent.clone(),
        for_run: true,
        ..Default::default()
    };
    let found = fleet_api::call(client, None, &request).await.map_err(in_our_words)?.workflows;
    match found.iter().find(|one| !one.ok) {
        Some(wrong) => Err(sent.refusal(&wrong.diagnostics)),
        None => Ok(source),
    }
}

/// A workflow by its name. A path would have the server read whatever file the client wants.
fn by_name(name: String) -> Outcome<WorkflowSource> {
    if name.contains(['/', '.', '\\']) {
        let message = format!("workflow: {:?} is not a name", escaped(&name));
        return Err(Problem::new(Code::InvalidValue, message)
            .hint("files are found by their name in .fleet/workflows of the repository, and are not read from elsewhere"));
    }
    Ok(WorkflowSource::Named(name))
}

fn settings(params: BTreeMap<String, Value>) -> Vec<String> {
    params.into_iter().map(|(name, value)| format!("{name}={}", task::text(value))).collect()
}

fn unnamed() -> Problem {
    Problem::field("name", "it is needed, because `stages` are given").hint("give the workflow a name")
}

fn refuse_beside_workflow(field: &str, is_given: bool) -> Outcome<()> {
    if !is_given {
        return Ok(());
    }
    let message = format!("{field}: it is only for `stages`; a named workflow has its own");
    Err(Problem::new(Code::InvalidValue, message).hint(format!("leave out `{field}`")))
}

fn neither_or_both(both: bool) -> Problem {
    let message = if both {
        "`stages` and `workflow` are both given: leave out one of the two"
    } else {
        "neither `stages` nor `workflow` is given"
    };
    Problem::new(Code::InvalidValue, message)
        .hint("give the stages of your own workflow, or name a ready one such as write-review-refine")
}

fn in_our_words(problem: Problem) -> Problem {
    let mut problem =
        problem.in_words_of(&[("agent", "executor"), ("base", "base_ref"), ("task", "task_prompt")]);
    if problem.code == Code::WorkflowNotFound && problem.field.is_none() {
        problem.field = Some("workflow".to_owned());
    }
    problem
}
