//! What each reason means, and how to fix it.

use fleet_agents::{Adapter, Trust};
use fleet_core::budget::Bounds;
use fleet_core::limits::{Limits, dollars};
use fleet_core::run::{Reason, Totals};
use fleet_core::task::Task;

use super::prelude::*;
use crate::agents;

/// The reason in words, with the details, unless these already say the same in a whole sentence.
pub(super) fn explained(reason: Reason, detail: Option<&str>) -> String {
    match (reason, detail) {
        (
            Reason::Lost
            | Reason::Untrusted
            | Reason::OverBudget
            | Reason::ContextPressure
            | Reason::OutsideWorkspace,
            Some(detail),
        ) => detail.to_owned(),
        (Reason::AgentError, Some(detail)) if detail.starts_with("the agent ended ") => detail.to_owned(),
        (_, Some(detail)) => format!("{}: {detail}", meaning(reason)),
        (_, None) => meaning(reason).to_owned(),
    }
}

const fn meaning(reason: Reason) -> &'static str {
    match reason {
        Reason::AgentError => "the agent ended with an error",
        Reason::BlockedByAgent => "the agent said that it cannot continue",
        Reason::NoChanges => "changes were expected, and git shows none",
        Reason::RateLimited => "the provider asked to slow down",
        Reason::QuotaExhausted => "the quota of the account is used up",
        Reason::Auth => "the provider refused the credentials",
        Reason::BadModel => "the provider does not know the model",
        Reason::ContextOverflow => "the conversation no longer fits the model",
        Reason::ContextPressure => "the conversation was about to become too long for the model",
        Reason::ProviderOutage => "the provider is out of reach or overloaded",
        Reason::Stale => "the agent was inactive for too long",
        Reason::TimedOut => "it took longer than its limit",
        Reason::OverBudget => "it went over its limit of money or tokens",
        Reason::SetupFailed => "the workspace or the agent could not be set up",
        Reason::WorkspaceFailed => "the workspace could not be created or read",
        Reason::WorkspaceRefused => "no workspace can be made for it",
        Reason::Lost => "its keeper vanished",
        Reason::Untrusted => "the repository requests something that has not been approved",
        Reason::AgentMissing => "the agent is not installed",
        Reason::BranchTaken => "the branch belongs to something else",
        Reason::MergeConflict => "the branches it starts from conflict",
        Reason::ChecksFailed => "a check failed",
        Reason::OutsideWorkspace => "the agent worked outside its workspace",
    }
}

/// What a person can do about it, most useful first.
pub(super) fn remedy(engine: &Engine, reason: Reason, task: &Task, agent: &str) -> Outcome<Vec<String>> {
    let (task, is_stage) = (task.id, task.part.is_some());
    let about = engine.agents()?.find(agent).map(Adapter::about);
    let other_agent = || format!("use another agent: `fleet task edit {task} --agent NAME`");
    Ok(match reason {
        Reason::Auth => {
            let login = about
                .map_or_else(|| format!("log in to {agent}"), |about| format!("log in: {}", about.login));
            vec![
                format!("{login}, then `fleet task retry {task}`"),
                "a variable that you set reaches agents after `fleet restart`".to_owned(),
                other_agent(),
            ]
        }
        Reason::AgentMissing => {
            let install = about
                .map_or_else(|| format!("install {agent}"), |about| format!("install it: {}", about.install));
            vec![install, other_agent()]
        }
        Reason::BadModel => vec![
            format!("choose another model: `fleet task edit {task} --model NAME`"),
            format!("or for all tasks of {agent}: `fleet config set agents.{agent}.model NAME`"),
        ],
        Reason::QuotaExhausted | Reason::RateLimited => vec![
            other_agent(),
            format!(
                "or name agents that take over automatically: `fleet config set agents.{agent}.fallback '[\"NAME\"]'`"
            ),
        ],
        Reason::Untrusted => vec!["`fleet trust` shows what the repository requests".to_owned()],
        Reason::WorkspaceRefused => vec![
            format!("once that is fixed: `fleet task retry {task}`"),
            format!("to start from another commit: `fleet task edit {task} --base REF`"),
        ],
        Reason::BranchTaken => vec![format!(
            "choose another branch: `fleet task edit {task} --branch NAME`, then `fleet task retry {task}`"
        )],
        Reason::SetupFailed => {
            vec!["`fleet config show` shows the set-up commands (`workspaces.setup`)".to_owned()]
        }
        Reason::TimedOut => vec![format!("give it more time: `fleet task edit {task} --limit time=8h`")],
        Reason::Stale => vec![format!("allow longer silence: `fleet config set limits.idle 1h`")],
        Reason::BlockedByAgent => vec![format!("say what it needs: `fleet prompt {task} \"…\"`")],
        Reason::MergeConflict if is_stage => vec![
            "let the agent resolve it: write `on_conflict = \"resolve\"` into the file of the workflow, and start it again"
                .to_owned(),
        ],
        Reason::MergeConflict => vec![format!(
            "merge them yourself and start there: `fleet task edit {task} --base BRANCH`, then `fleet task retry \
             {task}`"
        )],
        Reason::ChecksFailed => vec![
            format!("`fleet show {task}` shows what it printed, and the file with the whole output"),
            format!("say what it should do about it: `fleet prompt {task} \"…\"`"),
        ],
        Reason::ContextPressure => vec![
            format!("split the task, or say what matters: `fleet prompt {task} \"…\"`"),
            "`fleet config set limits.context_restarts 20` lets tasks continue in more conversations".to_owned(),
        ],
        Reason::OutsideWorkspace => {
            let mut advice = vec![
                "look at what it changed there: codefleet does not undo that".to_owned(),
                format!("tell it to stay in its workspace: `fleet prompt {task} \"…\"`"),
            ];
            if agents::trust(engine.config()?, agent) != Trust::Full {
                advice.push(format!(
                    "`fleet config set agents.{agent}.trust full` lets it write anywhere, except into your checkout and \
                     the home of codefleet"
                ));
            }
            advice
        }
        Reason::AgentError
        | Reason::NoChanges
        | Reason::ContextOverflow
        | Reason::ProviderOutage
        | Reason::WorkspaceFailed
        | Reason::Lost
        // Only the run knows which limit to raise: `more_use`.
        | Reason::OverBudget => Vec::new(),
    })
}

/// How to retry it, unless the advice before already ends with that.
pub(super) fn retry(task: TaskId, before: &[String]) -> Option<String> {
    let retry = format!("`fleet task retry {task}`");
    let is_said = before.iter().any(|line| line.contains(&retry));
    (!is_said).then(|| format!("{retry} retries it"))
}

/// The command that raises the limit which a run has exceeded.
pub(super) fn more_use(run: &Run, limits: Limits) -> Option<String> {
    let is_over = run.reason == Some(Reason::OverBudget);
    is_over.then(|| raise_limit(run.task, run.usage, limits, run.reserved))
}

fn raise_limit(task: TaskId, used: Totals, limits: Limits, reserved: Bounds) -> String {
    let tokens = used.input_tokens.saturating_add(used.output_tokens);
    let passed = |used: u64, most: Option<u64>| most.filter(|most| used > *most);
    let limit = |more: &str| format!("let it use more: `fleet task edit {task} --limit {more}`");
    if let Some(most) = passed(tokens, limits.tokens) {
        limit(&format!("tokens={}", most.saturating_mul(2)))
    } else if let Some(most) = passed(used.micro_usd, limits.micro_usd) {
        limit(&format!("usd={}", dollars(most.saturating_mul(2))))
    } else if passed(tokens, reserved.tokens).or(passed(used.micro_usd, reserved.micro_usd)).is_some() {
        "the budget is used up: `fleet config show` shows it under `budget`".to_owned()
    } else {
        limit("usd=5")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_passed_is_what_is_to_be_raised() {
        let task: TaskId = "t0sp8vxvppagbpg".parse().unwrap();
        let used = Totals { input_tokens: 900, output_tokens: 200, micro_usd: 2_000_000 };
        let limits = |tokens, micro_usd| Limits { tokens, micro_usd, ..Limits::default() };
        let bounds = |tokens, micro_usd| Bounds { tokens, micro_usd };
        let none = bounds(None, None);
        for (limits, reserved, said) in [
            (limits(Some(1_000), None), none, "--limit tokens=2000`"),
            (limits(Some(1_000), Some(5_000_000)), none, "--limit tokens=2000`"),
            (limits(Some(9_000), Some(1_500_000)), none, "--limit usd=3.00`"),
            (limits(None, None), none, "--limit usd=5`"),
            (limits(None, None), bounds(None, Some(1_000_000)), "the budget is used up"),
            (limits(Some(9_000), None), bounds(Some(1_000), None), "the budget is used up"),
        ] {
            let advice = raise_limit(task, used, limits, reserved);
            assert!(advice.contains(said), "{limits:?} {reserved:?}: {advice}");
        }
    }

    #[test]
    fn nothing_is_said_twice() {
        assert_eq!(explained(Reason::Lost, Some("its keeper vanished")), "its keeper vanished");
        assert_eq!(explained(Reason::Lost, None), "its keeper vanished");
        assert_eq!(
            explained(Reason::Auth, Some("HTTP 401")),
            "the provider refused the credentials: HTTP 401",
            "what others say needs to be put in words"
        );
        let ended = "the agent ended with exit status 3: no key";
        assert_eq!(explained(Reason::AgentError, Some(ended)), ended);
    }
}
