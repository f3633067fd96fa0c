use fleet_api::verbs::compare::{Answer, Compared, Request};
use fleet_core::outcome::{CheckResult, RunResult};
use fleet_store::ops::RunDetail;

use super::keep;
use super::prelude::*;
use super::run_diff::{self, RunComparison};

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let ids = runs(engine, &request.ids).await?;
    let (mut runs, mut sides) = (Vec::new(), Vec::new());
    for id in ids {
        let detail = engine.call(ops::GetRun { run: id }).await?;
        let side = match run_diff::find(engine, id, None).await {
            Ok(side) => Some(side),
            Err(problem) if problem.code == Code::NotHere => None,
            Err(problem) => return Err(problem),
        };
        runs.push(compared(engine, &detail, side.as_ref()).await?);
        sides.push(side);
    }
    let between = match sides.as_slice() {
        [Some(one), Some(other)] => {
            let (one, other) = (one.clone(), other.clone());
            blocking(move || one.between(&other)).await??
        }
        _ => None,
    };
    Ok(Answer { runs, between })
}

/// Those that were named, each once; one alone with the others of its fan-out, as far as they have begun.
async fn runs(engine: &Engine, named: &[String]) -> Outcome<Vec<RunId>> {
    let mut ids = Vec::new();
    for name in named {
        let id = engine.run_id(name).await?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    if ids.len() == 1 && named.len() > 1 {
        return Err(Problem::new(Code::NothingMatched, "these are names of one and the same run")
            .hint("name two or more: `fleet compare A B`; `fleet diff A` shows one"));
    }
    if let [alone] = ids.as_slice() {
        let task = engine.call(ops::GetRun { run: *alone }).await?.run.task;
        let keep = engine.call(ops::GetTask { id: task }).await?.task;
        let others = match keep::others(engine, &keep).await {
            Err(problem) if problem.code == Code::NothingMatched => Vec::new(),
            others => others?,
        };
        for other in others {
            match engine.run_id(other.id.as_str()).await {
                Ok(id) => ids.push(id),
                Err(problem) if problem.code == Code::RunNotFound => {}
                Err(problem) => return Err(problem),
            }
        }
    }
    if ids.len() < 2 {
        return Err(Problem::new(
            Code::NothingMatched,
            "there is only one run, and nothing to compare it with",
        )
        .hint("name two or more: `fleet compare A B`; `fleet diff A` shows one"));
    }
    Ok(ids)
}

async fn compared(engine: &Engine, detail: &RunDetail, side: Option<&RunComparison>) -> Outcome<Compared> {
    let run = &detail.run;
    let changes = match side.cloned() {
        Some(side) => Some(blocking(move || side.totals()).await??),
        None => None,
    };
    let result = detail.result.as_deref().and_then(|text| serde_json::from_str::<RunResult>(text).ok());
    let checks = result.as_ref().map_or(&[][..], |result| &result.checks);
    let passed = checks.iter().filter(|check| CheckResult::is_good(check)).count();
    let end = run.ended_at.unwrap_or_else(|| engine.now());
    Ok(Compared {
        task: run.task,
        run: run.id,
        title: detail.task.as_ref().map(|task| task.spec.title.to_string()).unwrap_or_default(),
        branch: run.branch.clone(),
        agent: run.agent.clone(),
        model: run.model.clone(),
        state: run.state(),
        changes,
        checks_passed: passed,
        checks_failed: checks.len() - passed,
        tests: result.as_ref().map(|result| result.tests.clone()).unwrap_or_default(),
        tokens: run.usage.input_tokens.saturating_add(run.usage.output_tokens),
        micro_usd: run.usage.micro_usd,
        seconds: end.since(run.started_at.unwrap_or(run.created_at)).as_secs(),
    })
}
