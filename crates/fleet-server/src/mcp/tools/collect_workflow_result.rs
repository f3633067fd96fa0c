use fleet_api::Client;
use fleet_api::verbs::workflow_result::{self, Request};
use fleet_core::id::TaskId;

use super::prelude::*;
use crate::mcp::answer::lost;
use crate::mcp::collected::CollectedResult;
use crate::mcp::open::OpenObject;
use crate::mcp::status::StageStatus;
use crate::mcp::worker;
use crate::mcp::workflow::{self, WorkflowAnswer};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The workflow
    workflow_id: String,
    /// Also the results of all stages; only of the last ones if left out
    include_all_stages: Option<bool>,
    /// Also the end of what the agents of those stages printed, of ten stages at most
    include_logs: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    #[serde(flatten)]
    workflow: WorkflowAnswer,
    /// The result of the stage that no other needs; of several, the last one: its worker, with result. Null if it never
    /// ran
    final_result: Option<CollectedResult>,
    /// The results of all stages that no other needs
    final_results: Vec<StageAnswer>,
    /// The results of all stages, if asked for
    #[serde(skip_serializing_if = "Option::is_none")]
    stage_results: Option<Vec<StageAnswer>>,
    /// What the last stage that judges said: approve, winner, scores
    verdict: Option<OpenObject>,
    /// The winner that a judge named: stage, branch, by
    winner: Option<OpenObject>,
    /// The branches to merge: what the last stages made, or chose as judges
    branches: Vec<String>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
struct StageAnswer {
    index: usize,
    name: String,
    status: StageStatus,
    /// Why it failed, was skipped, or is stuck
    error_message: Option<String>,
    /// approve, winner, scores, if it was to judge
    verdict: Option<OpenObject>,
    /// The list that it returned
    items: Vec<String>,
    /// Its worker, with the result of that; left out if it never ran
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<CollectedResult>,
}

const LINES: u32 = 80;
/// Logs of more stages are more than a client can hold.
const MAX_LOGS: usize = 10;

impl Tool for Args {
    type Answer = Answer;
    const TITLE: &'static str = "Collect a workflow's result";
    const ABOUT: &'static str = "The result of a workflow: the results of its last stages, the verdict and the \
        winner if one judged, and the branches to merge. Use it when wait reports that the workflow has \
        finished; use include_all_stages and include_logs to find out why one failed.";
    const NATURE: Nature = Nature::Reads;
    const UNKNOWN: Unknown = Unknown::LeftOut;

    async fn run(self, call: Call) -> Outcome<Answer> {
        let request = Request { id: self.workflow_id.clone(), all: true, stage: None, detail: true };
        let named = |problem| workflow::named(&self.workflow_id, problem);
        let mut found = fleet_api::call(&call, None, &request).await.map_err(named)?;
        let detail = found.detail.take().ok_or_else(|| lost("the workflow"))?;
        let workflow = workflow::one(&call, detail).await?;
        let wants_all = self.include_all_stages.unwrap_or_default();
        let mut stages = stage_results(&call, &workflow, &found.results).await?;
        stages.sort_by_key(|(_, stage)| stage.index);
        if self.include_logs.unwrap_or_default() {
            let shown = stages.iter_mut().filter(|(is_last, _)| wants_all || *is_last);
            for collected in shown.filter_map(|(_, stage)| stage.result.as_mut()).take(MAX_LOGS) {
                collected.read_logs(&call, LINES).await?;
            }
        }
        let last = |(is_last, stage): &(bool, StageAnswer)| is_last.then(|| stage.clone());
        let final_results: Vec<StageAnswer> = stages.iter().filter_map(last).collect();
        Ok(Answer {
            final_result: final_results.last().and_then(|stage| stage.result.clone()),
            verdict: found.verdict.as_ref().map(OpenObject::of).transpose()?,
            winner: found.winner.as_ref().map(OpenObject::of).transpose()?,
            branches: found.branches,
            workflow,
            final_results,
            stage_results: wants_all.then(|| stages.into_iter().map(|(_, stage)| stage).collect()),
        })
    }
}

/// The result of each stage, and whether no other needs it.
async fn stage_results(
    client: &dyn Client,
    workflow: &WorkflowAnswer,
    results: &[workflow_result::StageResult],
) -> Outcome<Vec<(bool, StageAnswer)>> {
    let tasks: Vec<TaskId> = results.iter().filter_map(|stage| stage.task).collect();
    let workers = worker::shown(client, &tasks).await?;
    let one = |stage: &workflow_result::StageResult| {
        let summary = workflow.stage_summary.iter().find(|known| known.stage == stage.name);
        let summary = summary.ok_or_else(|| lost("a stage"))?;
        let id = stage.task.map(|task| task.to_string());
        let worker = workers.iter().find(|worker| Some(&worker.worker_id) == id.as_ref());
        let collected =
            worker.map(|worker| CollectedResult::new(worker.clone(), stage.result.as_ref())).transpose()?;
        let result = StageAnswer {
            index: summary.index,
            name: summary.name.clone(),
            status: summary.status,
            error_message: stage.why.clone(),
            verdict: stage.verdict.as_ref().map(OpenObject::of).transpose()?,
            items: stage.items.clone(),
            result: collected,
        };
        Ok((stage.last, result))
    };
    results.iter().map(one).collect()
}
