mod stage;

use fleet_api::verbs::workflow_show::{Answer, Depth, Request};
use fleet_api::views::{self, StageView, WorkflowView};
use fleet_core::id::{IdPrefix, IdSuffix, WorkflowId};
use fleet_core::text::{escaped, shortened};
use fleet_core::workflow::{PartState, Workflow, WorkflowState};
use fleet_store::ops::StoredWorkflow;

pub(super) use stage::{because, ranks};

use super::prelude::*;
use crate::engine::LONGEST_NAME;
use crate::waiting::{Waiting, fingerprint};

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let id = meant(engine, &request.id).await?;
    let mut waiting = Waiting::start(engine, request.wait_seconds).await?;
    loop {
        let workflow = look(engine, id, request.depth).await?;
        let next = fingerprint(&workflow)?;
        if request.after.as_ref() != Some(&next) || !waiting.goes_on().await {
            return Ok(Answer { workflow, next });
        }
    }
}

/// At most this many workflows are searched for a name, newest first.
const MAX_NAMED: i64 = 10_000;

/// The workflow that the user means: by its id, the beginning or end of that, or its name, if only one has it. One that
/// is not over comes before those that are, and the directory's project before the others.
pub(crate) async fn meant(engine: &Engine, typed: &str) -> Outcome<WorkflowId> {
    if let Ok(prefix) = IdPrefix::parse(typed) {
        match engine.store().await?.call(ops::ResolveWorkflow { prefix }).await {
            Err(StoreError::WorkflowNotFound(_)) => {}
            found => return found.map_err(problems::store),
        }
    }
    by_name(engine, typed).await
}

async fn by_name(engine: &Engine, typed: &str) -> Outcome<WorkflowId> {
    let here = match engine.repository() {
        Ok(_) => engine.known_project().await?.map(|project| project.id),
        Err(_) => None,
    };
    let list = ops::ListWorkflows { project: None, states: Vec::new(), before: None, limit: MAX_NAMED };
    let all = engine.call(list).await?.workflows.into_iter().map(|listed| listed.workflow);
    let suffix = IdSuffix::parse(typed);
    let ends = |id: &str| suffix.as_ref().is_some_and(|suffix| id.ends_with(suffix.as_str()));
    let is_meant = |workflow: &Workflow| workflow.name == typed || ends(workflow.id.as_str());
    let mut named: Vec<Workflow> = all.filter(is_meant).collect();
    prefer(&mut named, |workflow| Some(workflow.project) == here);
    prefer(&mut named, |workflow| !workflow.state.is_over());
    // The message shows what was typed, without case folding.
    let shown = escaped(&shortened(typed, LONGEST_NAME)).into_owned();
    match named.as_slice() {
        [] => Err(problems::store(StoreError::WorkflowNotFound(format!("\"{shown}\"")))),
        [one] => Ok(one.id),
        several => {
            let matches = several.iter().take(5).map(|workflow| workflow.id.to_string()).collect();
            Err(problems::store(StoreError::Ambiguous { prefix: shown, matches }))
        }
    }
}

/// Keeps only the better ones, if there are any.
fn prefer(workflows: &mut Vec<Workflow>, is_better: impl Fn(&Workflow) -> bool) {
    if workflows.iter().any(&is_better) {
        workflows.retain(is_better);
    }
}

pub(super) async fn look(engine: &Engine, id: WorkflowId, depth: Depth) -> Outcome<views::WorkflowDetail> {
    let detail = engine.call(ops::GetWorkflow { id, with_results: depth == Depth::Results }).await?;
    let mut shown = shown(engine, &detail);
    if depth != Depth::States {
        count(engine, &mut shown).await?;
    }
    Ok(shown)
}

pub(super) fn shown(engine: &Engine, detail: &StoredWorkflow) -> views::WorkflowDetail {
    let workflow = WorkflowView::from(&detail.workflow);
    let stages = stage::all(detail, engine.now());
    views::WorkflowDetail {
        next: next(&workflow, &stages),
        workflow,
        project_name: detail.project.name.clone(),
        task: detail.spec.task.clone(),
        params: detail.spec.params.clone(),
        stages,
    }
}

/// Adds the usage of all attempts at each stage; a view has only that of the newest.
pub(super) async fn count(engine: &Engine, shown: &mut views::WorkflowDetail) -> Outcome<()> {
    for stage in shown.stages.iter_mut().filter(|stage| stage.attempts > 1) {
        let Some(task) = stage.task else { continue };
        let runs = engine.call(ops::ListRuns::of_task(task)).await?;
        let used = |of: fn(&Run) -> u64| runs.iter().map(|listed| of(&listed.run)).sum();
        stage.input_tokens = used(|run| run.usage.input_tokens);
        stage.output_tokens = used(|run| run.usage.output_tokens);
        stage.micro_usd = used(|run| run.usage.micro_usd);
    }
    Ok(())
}

fn next(workflow: &WorkflowView, stages: &[StageView]) -> Vec<String> {
    let id = workflow.id;
    let mut next = Vec::new();
    match workflow.state {
        WorkflowState::Running => {
            next.extend(stages.iter().filter_map(advice_for_waiting));
            next.push(format!(
                "`fleet workflow watch {id}` follows it, `fleet workflow cancel {id}` stops it"
            ));
        }
        WorkflowState::Cancelling => {
            next.push(format!("`fleet workflow cancel {id}` waits until all of it has stopped"));
        }
        WorkflowState::Succeeded => {
            next.push(format!("`fleet workflow result {id}` shows its results, and how to merge them"));
        }
        WorkflowState::Failed | WorkflowState::Cancelled => {
            let failed = stages.iter().find(|stage| stage.state == PartState::Failed);
            next.extend(failed.and_then(|stage| {
                Some(format!("`fleet why {}` explains why {} failed", stage.task?, stage.name))
            }));
            next.push(format!("`fleet workflow retry {id}` retries what is not done"));
        }
    }
    next
}

/// What the user can do about a stage that waits for them.
fn advice_for_waiting(stage: &StageView) -> Option<String> {
    let task = stage.task?;
    match stage.status.as_str() {
        "waiting" => Some(format!("{} asks a question: `fleet show {task}` shows it", stage.name)),
        "held" => Some(format!("{} is held: `fleet task release {task}` releases it", stage.name)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use fleet_api::verbs::{workflow_cancel, workflow_clean, workflow_list, workflow_run};
    use fleet_api::views::{FileFormat, WorkflowSource};
    use fleet_core::problem::Code;

    use super::*;
    use crate::clock;
    use crate::scratch::ScratchEngine;

    /// An engine with its own home and repository, and a workflow in it that nobody works on.
    fn with_workflow(test: impl AsyncFnOnce(&Engine, String)) {
        ScratchEngine::run(async |engine| {
            let source = r#"{"stages":{"a":{"agent":"demo","prompt":"x"}}}"#.to_owned();
            let request = workflow_run::Request {
                workflow: WorkflowSource::Given {
                    name: "flow".to_owned(),
                    text: source,
                    format: FileFormat::Json,
                },
                from: None,
                task: None,
                set: Vec::new(),
                agent: None,
                base: None,
                priority: None,
                dry_run: false,
            };
            let planned = workflow_run::Request { dry_run: true, ..request.clone() };
            let planned = fleet_api::call(engine, None, &planned).await.unwrap();
            assert_eq!((planned.plan.stages.len(), planned.workflow.is_none()), (1, true));
            let list = workflow_list::Request { all: true, ..Default::default() };
            assert!(fleet_api::call(engine, None, &list).await.unwrap().workflows.is_empty(), "only planned");
            let started = fleet_api::call(engine, None, &request).await.unwrap().workflow.unwrap();
            test(engine, started.workflow.id.to_string()).await;
        });
    }

    #[test]
    fn whoever_waits_is_answered_when_it_stands_otherwise() {
        with_workflow(async |engine, id| {
            let asked = Request { id: id.clone(), ..Request::default() };
            let first = fleet_api::call(engine, None, &asked).await.unwrap();
            let again = Request { after: Some(first.next.clone()), ..asked };
            assert_eq!(
                fleet_api::call(engine, None, &again).await.unwrap().next,
                first.next,
                "nothing is new"
            );
            let waiting = Request { wait_seconds: Some(60), ..again };
            let cancel = workflow_cancel::Request { ids: vec![id], ..Default::default() };
            let began = clock::uptime();
            let (seen, done) =
                tokio::join!(fleet_api::call(engine, None, &waiting), fleet_api::call(engine, None, &cancel));
            assert_eq!(done.unwrap().workflows[0].unstarted, ["a"]);
            let seen = seen.unwrap();
            assert_ne!(seen.next, first.next);
            assert!(clock::uptime().saturating_sub(began) < Duration::from_secs(50), "not the whole time");
        });
    }

    #[test]
    fn a_question_before_something_ends_changes_nothing() {
        with_workflow(async |engine, id| {
            let cancel =
                workflow_cancel::Request { ids: vec![id.clone()], dry_run: true, ..Default::default() };
            let meant = fleet_api::call(engine, None, &cancel).await.unwrap().workflows;
            assert_eq!((meant.len(), meant[0].workflow.state), (1, WorkflowState::Running));
            let cancel = workflow_cancel::Request { dry_run: false, ..cancel };
            fleet_api::call(engine, None, &cancel).await.unwrap();
            let clean =
                workflow_clean::Request { ids: vec![id.clone()], dry_run: true, ..Default::default() };
            let plan = fleet_api::call(engine, None, &clean).await.unwrap();
            assert_eq!((plan.deleted.len(), plan.dry_run), (1, true));
            let asked = Request { id, ..Request::default() };
            fleet_api::call(engine, None, &asked).await.expect("it is still there");
            let clean = workflow_clean::Request { dry_run: false, confirmed: Some(plan.removed), ..clean };
            assert_eq!(fleet_api::call(engine, None, &clean).await.unwrap().deleted, plan.deleted);
            let problem = fleet_api::call(engine, None, &asked).await.unwrap_err();
            assert_eq!(problem.code, Code::WorkflowNotFound);
        });
    }
}
