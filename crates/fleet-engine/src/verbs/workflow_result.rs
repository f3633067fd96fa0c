mod landing;

use fleet_api::verbs::workflow_result::{Answer, Request, StageResult, Winner};
use fleet_api::views::{self, WorkflowView};
use fleet_core::text::escaped;
use fleet_core::workflow::WorkflowState;
use fleet_store::ops::{PartDetail, StoredWorkflow};

use self::landing::WorkflowLanding;
use super::prelude::*;
use super::workflow_show::{self, because, meant};
use crate::config::did_you_mean;

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let id = meant(engine, &request.id).await?;
    let detail = engine.call(ops::GetWorkflow { id, with_results: true }).await?;
    let landing = WorkflowLanding::new(&detail);
    let parts = chosen(&detail, &landing, &request)?;
    let (winner, branches) = (landing.winner(), landing.branches());
    let workflow = WorkflowView::from(&detail.workflow);
    let shown = if request.detail { Some(whole(engine, &detail).await?) } else { None };
    Ok(Answer {
        next: next(&workflow, &branches, winner.as_ref()),
        workflow,
        results: parts.into_iter().map(|part| result(part, &detail, &landing)).collect::<Outcome<_>>()?,
        verdict: landing.verdict().cloned(),
        winner,
        branches,
        detail: shown,
    })
}

async fn whole(engine: &Engine, detail: &StoredWorkflow) -> Outcome<views::WorkflowDetail> {
    let mut shown = workflow_show::shown(engine, detail);
    workflow_show::count(engine, &mut shown).await?;
    Ok(shown)
}

fn chosen<'a>(
    detail: &'a StoredWorkflow,
    landing: &WorkflowLanding<'_>,
    request: &Request,
) -> Outcome<Vec<&'a PartDetail>> {
    let current = detail.parts.iter().filter(|part| !part.part.replaced);
    let mut parts: Vec<&PartDetail> = current.collect();
    parts.sort_by_key(|part| (part.part.stage, part.part.number));
    let Some(wanted) = &request.stage else {
        let ends = landing.ends();
        parts.retain(|part| request.all || ends.contains(&part.part.stage));
        return Ok(parts);
    };
    let stage = detail.spec.find(wanted);
    let names: Vec<String> = parts.iter().map(|part| part.name.clone()).collect();
    parts.retain(|part| Some(part.part.stage) == stage || part.name == *wanted);
    if parts.is_empty() && stage.is_none() {
        let stages = detail.spec.stages.iter().map(|stage| stage.name.to_string());
        let id = detail.workflow.id;
        let message = format!("workflow {id} has no stage {:?}", escaped(wanted));
        return Err(Problem::new(Code::NothingMatched, message)
            .hints(did_you_mean(wanted, stages.chain(names)))
            .hint(format!("`fleet workflow show {id}` shows its stages")));
    }
    Ok(parts)
}

fn result(part: &PartDetail, of: &StoredWorkflow, landing: &WorkflowLanding<'_>) -> Outcome<StageResult> {
    let left = part.result.as_ref();
    let shown = left.map(serde_json::to_value).transpose();
    let unreadable = |error: serde_json::Error| Problem::new(Code::Internal, error.to_string());
    Ok(StageResult {
        name: part.name.clone(),
        state: part.part.state.get(),
        why: part.detail.clone().or_else(|| part.part.skip.map(|skip| because(skip, &part.part, &of.spec))),
        task: part.task.as_ref().map(|task| task.id),
        run: part.run.as_ref().map(|run| run.id),
        agent: part.run.as_ref().map(|run| run.agent.clone()),
        branch: landing.branch_of(part.at).map(ToOwned::to_owned),
        verdict: left.and_then(|result| result.verdict.clone()),
        items: left.map(|result| result.items.clone()).unwrap_or_default(),
        result: shown.map_err(unreadable)?,
        last: landing.ends().contains(&part.part.stage),
    })
}

fn shortened_commit(base: &str) -> &str {
    base.get(..12).filter(|_| base.len() >= 40).unwrap_or(base)
}

fn next(workflow: &WorkflowView, branches: &[String], winner: Option<&Winner>) -> Vec<String> {
    let id = workflow.id;
    let whose = |branch: &str| {
        let winner = winner.filter(|winner| winner.branch.as_deref() == Some(branch));
        winner.map(|winner| format!(", the work of {}", winner.stage)).unwrap_or_default()
    };
    let mut next: Vec<String> = match (workflow.state, branches) {
        (WorkflowState::Running | WorkflowState::Cancelling, _) => {
            return vec![format!("still running: `fleet workflow watch {id}` follows it")];
        }
        (_, []) => Vec::new(),
        (_, branches) => branches
            .iter()
            .map(|branch| {
                let whose = whose(branch);
                // The whole of it: `fleet diff` would show what the last stage added to what those before it made.
                let base = shortened_commit(&workflow.base);
                format!(
                    "`git diff {base}...{branch}` shows what changed, `git merge {branch}` merges it{whose}"
                )
            })
            .collect(),
    };
    match workflow.state {
        WorkflowState::Failed | WorkflowState::Cancelled => {
            next.insert(0, format!("`fleet workflow retry {id}` retries what is not done"));
        }
        _ if next.is_empty() => {
            next.push(format!("`fleet workflow result {id} --all` shows what every stage said"));
        }
        _ => next.push(format!("`fleet workflow clean {id}` removes it when its work has landed")),
    }
    next
}
