//! Cancels workflows: nothing new starts, and what runs of them is stopped, whenever this comes.

use std::time::Duration;

use fleet_core::id::{TaskId, WorkflowId};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::task::Remark;
use fleet_core::workflow::PartState;
use fleet_store::ops::{self, PartDetail, WorkflowDetail};
use serde::Serialize;

use super::lineage;
use super::task_add::parsed;
use super::workflow_show::meant;
use crate::Engine;
use crate::halt::{self, Fate, Until, Wish};
use crate::views::WorkflowView;

/// Which workflows.
#[derive(Debug, Clone)]
pub struct Request {
    /// Ids, beginnings of ids, or names.
    pub ids: Vec<String>,
    /// Why, for people.
    pub remark: Option<String>,
    /// Whether to wait until nothing of them runs any more.
    pub wait: bool,
}

/// What became of them.
#[derive(Debug, Clone, Serialize)]
pub struct Response {
    /// In the order in which they were named.
    pub workflows: Vec<Cancelled>,
}

/// What became of one: its stages by name.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json.md describes each field")]
pub struct Cancelled {
    #[serde(flatten)]
    pub workflow: WorkflowView,
    /// Their agents were stopped.
    pub stopped: Vec<String>,
    /// Nobody worked on them: they will not start.
    pub unstarted: Vec<String>,
    /// They had come to an end before.
    pub over: Vec<String>,
    /// They were asked to stop, and have not ended yet.
    pub going_on: Vec<String>,
    /// Whether somebody waited for their end.
    #[serde(skip)]
    waited: bool,
}

impl Response {
    /// The problem with what goes on, if somebody waited for its end.
    pub fn problem(&self) -> Option<Problem> {
        let one = self.workflows.iter().find(|one| one.waited && !one.going_on.is_empty())?;
        let id = one.workflow.id;
        let message = format!("workflow {id} is not over: {} goes on", one.going_on.join(", "));
        Some(
            Problem::new(Code::KillIncomplete, message)
                .hint(format!("it was asked to stop: `fleet workflow cancel {id}` waits for that once more"))
                .hint("`fleet start` takes care of a keeper that is stuck"),
        )
    }
}

/// The workflows that are meant, as they are: for a question before they go.
pub async fn find(engine: &Engine, typed: &[String]) -> Outcome<Vec<WorkflowView>> {
    let mut views = Vec::new();
    for id in ids(engine, typed).await? {
        let detail = engine.call(ops::GetWorkflow { id, with_results: false }).await?;
        views.push(WorkflowView::from(&detail.workflow));
    }
    Ok(views)
}

async fn ids(engine: &Engine, typed: &[String]) -> Outcome<Vec<WorkflowId>> {
    let mut ids = Vec::with_capacity(typed.len());
    for text in typed {
        let id = meant(engine, text).await?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// Cancels them: all, or none if one is over already.
pub async fn run(engine: &Engine, request: Request) -> Outcome<Response> {
    let remark: Option<Remark> = request.remark.as_deref().map(parsed).transpose()?;
    let ids = ids(engine, &request.ids).await?;
    for id in &ids {
        lineage::check_workflow(engine, *id).await?;
    }
    let mut before = Vec::with_capacity(ids.len());
    for id in &ids {
        before.push(engine.call(ops::GetWorkflow { id: *id, with_results: false }).await?);
    }
    let now = engine.now();
    let cancel = |id: &WorkflowId| ops::CancelWorkflow { id: *id, why: remark.clone(), now };
    engine.call(ops::All(ids.iter().map(cancel).collect())).await?;
    // What runs was asked to stop in the same moment: here its end is hastened, and waited for.
    let mut asked = Vec::with_capacity(ids.len());
    for id in &ids {
        asked.push(engine.call(ops::GetWorkflow { id: *id, with_results: false }).await?);
    }
    let tasks: Vec<TaskId> = asked.iter().flat_map(at_work).collect();
    let wish = Wish {
        remark,
        otherwise: "its workflow was cancelled",
        patience: (!request.wait).then_some(Duration::ZERO),
        until: Until::Tidy,
    };
    let halted = halt::cancel(engine, &tasks, &wish).await?;
    let goes_on =
        |task: TaskId| halted.iter().any(|one| one.task == task && matches!(one.fate, Fate::GoesOn(_)));
    let mut workflows = Vec::with_capacity(ids.len());
    for (before, asked) in before.iter().zip(&asked) {
        let id = asked.workflow.id;
        let after = engine.call(ops::GetWorkflow { id, with_results: false }).await?;
        let mut one = Cancelled {
            workflow: WorkflowView::from(&after.workflow),
            stopped: Vec::new(),
            unstarted: Vec::new(),
            over: Vec::new(),
            going_on: Vec::new(),
            waited: request.wait,
        };
        for part in after.parts.iter().filter(|part| !part.part.replaced) {
            let is_open = part.task.as_ref().is_some_and(|task| goes_on(task.id));
            one.list(part, (before, asked), is_open).push(part.name.clone());
        }
        workflows.push(one);
    }
    Ok(Response { workflows })
}

/// The tasks that have runs. A stage that was done may be at work again, because somebody had more to say.
fn at_work(detail: &WorkflowDetail) -> impl Iterator<Item = TaskId> {
    let tasks = detail.parts.iter().filter_map(|part| part.task.as_ref());
    tasks.filter(|task| !task.state().is_settled()).map(|task| task.id)
}

impl Cancelled {
    /// Where a part belongs, given how it was before, and when everything had been asked to stop.
    fn list(
        &mut self,
        part: &PartDetail,
        (before, asked): (&WorkflowDetail, &WorkflowDetail),
        goes_on: bool,
    ) -> &mut Vec<String> {
        let was = before.parts.get(part.at).map(|part| part.part.state);
        let worked = asked.parts.get(part.at).is_some_and(|part| part.part.state == PartState::Running);
        match part.part.state {
            _ if goes_on => &mut self.going_on,
            PartState::Running => &mut self.going_on,
            PartState::Cancelled if worked => &mut self.stopped,
            PartState::Cancelled if was != Some(PartState::Cancelled) => &mut self.unstarted,
            _ => &mut self.over,
        }
    }
}
