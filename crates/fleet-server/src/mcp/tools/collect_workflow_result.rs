use fleet_api::Client;
use fleet_api::verbs::workflow_result::{Request, StageResult};
use fleet_core::problem::Outcome;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Nature, Tool};
use crate::mcp::answer::lost;
use crate::mcp::open::Open;
use crate::mcp::status::StageStatus;
use crate::mcp::tail;
use crate::mcp::workflow::{self, Workflow};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The workflow
    workflow_id: String,
    /// Also what came of every stage; only of the last ones if left out
    include_all_stages: Option<bool>,
    /// Also the end of what the agents of those stages printed, of ten stages at most
    include_logs: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    #[serde(flatten)]
    workflow: Workflow,
    /// What came of the stage that no other needs; of several, the first that came to a result. Null if none did
    final_result: Option<Collected>,
    /// What came of all stages that no other needs
    final_results: Vec<Collected>,
    /// What came of every stage, if that was asked for
    #[serde(skip_serializing_if = "Option::is_none")]
    stage_results: Option<Vec<Collected>>,
    /// What the last stage that judges said: approve, winner, scores
    verdict: Option<Open>,
    /// Whom a judge named: stage, branch, by
    winner: Option<Open>,
    /// The branches to merge: what the last stages made, or chose as judges
    branches: Vec<String>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Collected {
    index: usize,
    name: String,
    status: StageStatus,
    worker_id: Option<String>,
    run_id: Option<String>,
    executor: Option<String>,
    branch_name: Option<String>,
    error_message: Option<String>,
    /// approve, winner, scores, if it was to judge
    verdict: Option<Open>,
    /// The list that it returned
    items: Vec<String>,
    /// status, summary, files_changed, commits, tests (command, status, details), next_steps; files and commits as git shows them. Null if there is none
    result: Option<Open>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stdout_tail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stderr_tail: Option<String>,
}

const LINES: u32 = 80;
/// Logs of more stages are more than a client can hold.
const MOST_LOGS: usize = 10;

impl Tool for Args {
    type Answer = Answer;
    const TITLE: &'static str = "Collect a workflow's result";
    const ABOUT: &'static str = "What came of a workflow: the results of its last stages, the verdict and the winner if one judged, and the branches \
         to merge. Use it when wait says that the workflow is over; with include_all_stages and include_logs to find out why \
         one failed.";
    const NATURE: Nature = Nature::Reads;

    async fn run(self, call: Call) -> Outcome<Answer> {
        let request = Request { id: self.workflow_id, all: true, stage: None, detail: true };
        let mut found = fleet_api::call(&call, None, &request).await.map_err(workflow::named)?;
        let detail = found.detail.take().ok_or_else(|| lost("the workflow"))?;
        let workflow = workflow::one(&call, detail).await?;
        let (ends, all) = (found.results.iter().filter(|stage| stage.last), found.results.iter());
        let (mut final_results, mut stage_results) =
            (collected(&workflow, ends)?, collected(&workflow, all)?);
        let wants_all = self.include_all_stages.unwrap_or_default();
        if self.include_logs.unwrap_or_default() {
            let shown = if wants_all { &mut stage_results } else { &mut final_results };
            for stage in shown.iter_mut().take(MOST_LOGS) {
                stage.read_logs(&call).await?;
            }
        }
        let best = final_results.iter().find(|stage| stage.result.is_some()).or(final_results.first());
        Ok(Answer {
            final_result: best.cloned(),
            verdict: found.verdict.as_ref().map(Open::of).transpose()?,
            winner: found.winner.as_ref().map(Open::of).transpose()?,
            branches: found.branches,
            workflow,
            final_results,
            stage_results: wants_all.then_some(stage_results),
        })
    }
}

fn collected<'r>(
    workflow: &Workflow,
    results: impl Iterator<Item = &'r StageResult>,
) -> Outcome<Vec<Collected>> {
    let one = |stage: &StageResult| {
        let summary = workflow.stage_summary.iter().find(|known| known.name == stage.name);
        let summary = summary.ok_or_else(|| lost("a stage"))?;
        Ok(Collected {
            index: summary.index,
            name: stage.name.clone(),
            status: summary.status,
            worker_id: stage.task.map(|task| task.to_string()),
            run_id: stage.run.map(|run| run.to_string()),
            executor: stage.agent.clone(),
            branch_name: stage.branch.clone(),
            error_message: stage.why.clone(),
            verdict: stage.verdict.as_ref().map(Open::of).transpose()?,
            items: stage.items.clone(),
            result: stage.result.as_ref().map(Open::result).transpose()?,
            stdout_tail: None,
            stderr_tail: None,
        })
    };
    results.map(one).collect()
}

impl Collected {
    async fn read_logs(&mut self, client: &dyn Client) -> Outcome<()> {
        let Some(run) = &self.run_id else { return Ok(()) };
        (self.stdout_tail, self.stderr_tail) = tail::of_both(client, run, LINES).await?;
        Ok(())
    }
}
