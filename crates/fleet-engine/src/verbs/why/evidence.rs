//! Evidence of why a run ended as it did.

use fleet_core::event::{AgentEvent, Fact, TROUBLE, When};
use fleet_core::outcome::RunResult;
use fleet_core::run::{Reason, RunState};
use fleet_core::time::Span;

use super::terminal;
use crate::verbs::log_tail;
use crate::verbs::prelude::*;

/// How many lines of standard error are shown; `fleet logs --stderr` has the rest.
const STDERR_LINES: usize = 5;
/// More of them say nothing new.
const MAX_EVENTS: i64 = 30;

pub(super) async fn of(engine: &Engine, run: &Run) -> Outcome<Vec<String>> {
    let events = engine.call(ops::RunEventsOf { run: run.id, kinds: TROUBLE, limit: MAX_EVENTS }).await?;
    let mut seen: Vec<String> = run.agent_state.iter().map(terminal::evidence).collect();
    for event in events {
        let Some(text) = sentence(event.fact) else { continue };
        // An agent that retries repeats its messages.
        if seen.last() != Some(&text) {
            seen.push(text);
        }
    }
    let result = engine.call(ops::GetRun { run: run.id }).await?.result;
    let result: Option<RunResult> = result.and_then(|text| serde_json::from_str(&text).ok());
    seen.extend(result.as_ref().filter(|_| run.state == RunState::Succeeded).map(done));
    let (checks, remarks) = result.map(|result| (result.checks, result.remarks)).unwrap_or_default();
    seen.extend(checks.iter().map(|check| format!("check: {}", check.summary())));
    seen.extend(remarks);
    if run.reason.is_some() {
        let folder = engine.home().run(run.id);
        let lines = blocking(move || log_tail::of(&folder.stderr(), STDERR_LINES)).await?;
        if !lines.is_empty() {
            seen.push(format!("standard error ends with:\n{}", lines.join("\n")));
        }
    }
    let usage = run.usage;
    if usage.input_tokens + usage.output_tokens > 0 {
        seen.push(format!("it used {} tokens", usage.input_tokens + usage.output_tokens));
    }
    Ok(seen)
}

/// What git shows of work that is done.
fn done(result: &RunResult) -> String {
    let many = |number: usize, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
    match (result.files, result.commit_count) {
        (0, 0) => "git shows no change, and none was needed".to_owned(),
        (files, commits) => {
            format!("git shows {} changed, in {}", many(files, "file"), many(commits, "commit"))
        }
    }
}

fn sentence(fact: Fact) -> Option<String> {
    Some(match fact {
        Fact::RunStopping { why } => format!("it was stopped: {why}"),
        Fact::RunReported { status, summary } => format!("the agent declared `{status}`: {summary}"),
        Fact::Agent(event) => return by_agent(event),
        _ => return None,
    })
}

fn by_agent(event: AgentEvent) -> Option<String> {
    Some(match event {
        AgentEvent::Retry { attempt, wait_ms, text } => {
            let again = match attempt {
                Some(attempt) => format!("the agent retried on its own (attempt {attempt})"),
                None => "the agent retried on its own".to_owned(),
            };
            let wait = wait_ms.map(|ms| format!(" after {}", Span(std::time::Duration::from_millis(ms))));
            format!("{again}{}: {text}", wait.unwrap_or_default())
        }
        AgentEvent::RateLimit { until: Some(When::At(until)), text } => {
            format!("the provider limits the account until {}: {text}", clock::rfc3339(until))
        }
        AgentEvent::RateLimit { text, .. } => format!("the provider limits the account: {text}"),
        AgentEvent::Denied { tool, text } => format!("the agent was not allowed to use {tool}: {text}"),
        AgentEvent::Error { reason: Reason::OutsideWorkspace, text } => format!("codefleet saw that {text}"),
        AgentEvent::Error { text, .. } => format!("the agent reported an error: {text}"),
        AgentEvent::Warning { text } => format!("warning: {text}"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_codefleet_saw_is_not_told_as_the_words_of_the_agent() {
        let error = |reason| by_agent(AgentEvent::Error { reason, text: "it wrote /x".to_owned() });
        assert_eq!(error(Reason::OutsideWorkspace).unwrap(), "codefleet saw that it wrote /x");
        assert_eq!(error(Reason::Auth).unwrap(), "the agent reported an error: it wrote /x");
    }
}
