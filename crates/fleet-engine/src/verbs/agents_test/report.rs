//! What is known about the run of a test, and what that says.

use std::path::Path;
use std::time::Duration;

use fleet_agents::About;
use fleet_api::verbs::run_logs::Request;
use fleet_core::event::AgentEvent;
use fleet_core::outcome::RunResult;
use fleet_core::run::{Reason, RunState};
use fleet_core::time::Span;
use fleet_host::git::{self, DiffColor, DiffStyle, Oid};

use fleet_api::verbs::agents_test::TestStep;
use fleet_api::verbs::doctor::CheckVerdict;

use super::{FILE, LINE, step};
use crate::verbs::prelude::*;
use crate::verbs::run_logs;

pub(super) struct TestedRun {
    pub(super) run: Option<Run>,
    result: Option<RunResult>,
    /// Lines that were understood, and those that were not.
    lines: (usize, usize),
    patch: String,
}

/// Looks at the only run that the task has had.
pub(super) async fn look(engine: &Engine, task: TaskId) -> Outcome<TestedRun> {
    let filter = ops::RunFilter { task: Some(task), newest_of_task: true, ..Default::default() };
    let listed = engine.call(ops::ListRuns { filter, limit: 1 }).await?;
    let Some(id) = listed.first().map(|listed| listed.run.id) else {
        return Ok(TestedRun { run: None, result: None, lines: (0, 0), patch: String::new() });
    };
    let detail = engine.call(ops::GetRun { run: id }).await?;
    let repo = engine.repository()?.common_dir.clone();
    let (branch, base) = (detail.run.branch.clone(), detail.run.base.clone());
    let patch = blocking(move || patch(&repo, branch.as_deref()?, base.as_deref()?)).await?;
    Ok(TestedRun {
        lines: lines(engine, &id.to_string()).await.unwrap_or_default(),
        result: detail.result.as_deref().and_then(|text| serde_json::from_str(text).ok()),
        run: Some(detail.run),
        patch: patch.unwrap_or_default(),
    })
}

/// More of a difference than one line in one file is not what was asked for, and is not looked at.
const LONGEST_PATCH: usize = 64 * 1024;

fn patch(repo: &Path, branch: &str, base: &str) -> Option<String> {
    let (base, tip) = (Oid::parse(base).ok()?, git::branch_commit(repo, branch).ok()??);
    let mut bytes = Vec::new();
    git::diff(repo, (&base, &tip), DiffStyle::Patch { color: DiffColor::Never }, &mut bytes).ok()?;
    bytes.truncate(LONGEST_PATCH);
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

async fn lines(engine: &Engine, id: &str) -> Outcome<(usize, usize)> {
    let request = Request { id: id.to_owned(), ..Request::default() };
    let mut decoded = run_logs::find(engine, &request).await?.decoded();
    let mut counted = (0, 0);
    let mut count = |entries: &[AgentEvent]| {
        let unknown = entries.iter().filter(|entry| matches!(entry, AgentEvent::Raw { .. })).count();
        counted = (counted.0 + entries.len() - unknown, counted.1 + unknown);
    };
    while let Some(entries) = decoded.entries()? {
        count(&entries);
    }
    count(&decoded.finish());
    Ok(counted)
}

pub(super) fn steps(seen: &TestedRun, is_over: bool, patience: Duration) -> Vec<TestStep> {
    let Some(run) = &seen.run else {
        return vec![step("starts", CheckVerdict::Bad, "no run started: the runner did not claim the task")];
    };
    if run.started_at.is_none() {
        return vec![step("starts", CheckVerdict::Bad, why(run))];
    }
    vec![
        step("starts", CheckVerdict::Good, model(run)),
        session(run),
        streams(seen.lines),
        edited(seen),
        committed(seen),
        usage(run),
        cost(run),
        ended(run, is_over, patience),
    ]
}

fn model(run: &Run) -> String {
    run.model
        .as_ref()
        .map_or_else(|| "with its own default model".to_owned(), |model| format!("with {model}"))
}

fn why(run: &Run) -> String {
    let reason = run.reason.map(|reason| reason.to_string());
    let said: Vec<String> = reason.into_iter().chain(run.detail.clone()).collect();
    if said.is_empty() { "no reason given".to_owned() } else { said.join(": ") }
}

fn session(run: &Run) -> TestStep {
    match &run.session {
        Some(session) => step("session", CheckVerdict::Good, session),
        None => step("session", CheckVerdict::Warning, "no id: its conversations cannot be resumed"),
    }
}

fn streams(lines: (usize, usize)) -> TestStep {
    match lines {
        (0, 0) => step("streams", CheckVerdict::Warning, "it printed nothing"),
        (events, 0) => step("streams", CheckVerdict::Good, format!("{events} events")),
        (events, unknown) => {
            let said = format!("{events} events, and {unknown} lines that were not understood");
            // Agents without a stream of events print nothing but lines.
            step("streams", if events == 0 { CheckVerdict::Warning } else { CheckVerdict::Good }, said)
        }
    }
}

fn edited(seen: &TestedRun) -> TestStep {
    let names: Vec<&str> = seen.patch.lines().filter_map(|line| line.strip_prefix("+++ b/")).collect();
    if !names.contains(&FILE) {
        let others = names.iter().take(3).copied().collect::<Vec<_>>().join(", ");
        let others = if others.is_empty() { others } else { format!(", but there is {others}") };
        return step("edited", CheckVerdict::Bad, format!("there is no {FILE} on its branch{others}"));
    }
    if !seen.patch.lines().any(|line| line.trim_end() == format!("+{LINE}")) {
        return step("edited", CheckVerdict::Bad, format!("{FILE} does not hold what was asked for"));
    }
    match names.len() {
        1 => step("edited", CheckVerdict::Good, FILE),
        more => step("edited", CheckVerdict::Warning, format!("{FILE}, and {} unexpected", more - 1)),
    }
}

fn committed(seen: &TestedRun) -> TestStep {
    match seen.result.as_ref().map(|result| (result.commit_count, result.commits.first())) {
        Some((count, Some(newest))) if count > 0 => {
            step("committed", CheckVerdict::Good, newest.chars().take(12).collect::<String>())
        }
        _ => step("committed", CheckVerdict::Bad, "there is no commit on its branch"),
    }
}

fn usage(run: &Run) -> TestStep {
    let usage = &run.usage;
    if usage.input_tokens + usage.output_tokens == 0 {
        let said = if run.state == RunState::Succeeded {
            "it reports no tokens: token budgets and limits have no effect"
        } else {
            "none before it failed"
        };
        return step("usage", CheckVerdict::Warning, said);
    }
    let said = format!("{} tokens in, {} out", usage.input_tokens, usage.output_tokens);
    step("usage", CheckVerdict::Good, said)
}

fn cost(run: &Run) -> TestStep {
    let nothing = run.usage.input_tokens + run.usage.output_tokens == 0 && run.usage.micro_usd == 0;
    if nothing && run.state != RunState::Succeeded {
        return step("cost", CheckVerdict::Warning, "none before it failed");
    }
    if run.usage.micro_usd == 0 {
        let said = "unknown: it reports none, and `fleet agents prices` has no price for its model";
        return step("cost", CheckVerdict::Warning, said);
    }
    let (dollars, rest) = (run.usage.micro_usd / 1_000_000, run.usage.micro_usd % 1_000_000);
    step("cost", CheckVerdict::Good, format!("{dollars}.{rest:06} dollars"))
}

fn ended(run: &Run, is_over: bool, patience: Duration) -> TestStep {
    if !is_over {
        return step("ended", CheckVerdict::Bad, format!("it did not end within {}", Span(patience)));
    }
    if run.state == RunState::Succeeded {
        return step("ended", CheckVerdict::Good, "on its own, with its work done");
    }
    step("ended", CheckVerdict::Bad, why(run))
}

pub(super) fn next(agent: &str, about: &About, reason: Option<Reason>) -> Vec<String> {
    let first = match reason {
        Some(Reason::Auth) => format!("log in: {}", about.login),
        Some(Reason::AgentMissing) => format!("install it: {}", about.install),
        Some(Reason::BadModel) => {
            format!("choose another model: `fleet config set agents.{agent}.model MODEL`")
        }
        Some(Reason::RateLimited | Reason::QuotaExhausted) => {
            "wait until the provider's limit resets, or use another account".to_owned()
        }
        Some(Reason::ProviderOutage) => {
            "its provider does not answer: try again later, and check your network".to_owned()
        }
        _ => format!(
            "start {} by hand in a repository, and check that it works there without asking",
            about.title
        ),
    };
    vec![
        first,
        format!("`fleet agents test {agent} --keep` keeps the folder, with everything that it printed"),
    ]
}
