//! What each reason means, and what mends it.

use fleet_agents::Adapter;
use fleet_core::id::TaskId;
use fleet_core::problem::Outcome;
use fleet_core::run::Reason;

use crate::Engine;

/// The reason in words, to be followed by the details.
pub(super) const fn meaning(reason: Reason) -> &'static str {
    match reason {
        Reason::AgentError => "the agent ended with an error of its own",
        Reason::BlockedByAgent => "the agent said that it cannot go on",
        Reason::NoChanges => "changes were expected, and git shows none",
        Reason::RateLimited => "the provider asked to slow down",
        Reason::QuotaExhausted => "the quota of the account is used up",
        Reason::Auth => "the provider refused the credentials",
        Reason::BadModel => "the provider does not know the model",
        Reason::ContextOverflow => "the conversation no longer fits the model",
        Reason::ProviderOutage => "the provider is out of reach or overloaded",
        Reason::Stale => "the agent showed no sign of work for too long",
        Reason::TimedOut => "it took longer than it may",
        Reason::OverBudget => "it would have used more money or tokens than it may",
        Reason::SetupFailed => "the workspace or the agent could not be set up",
        Reason::WorkspaceFailed => "the workspace could not be made or looked at",
        Reason::Lost => "its keeper vanished",
        Reason::Untrusted => "the repository brings commands that nobody has allowed yet",
        Reason::AgentMissing => "the agent's program is not there",
        Reason::BranchTaken => "the branch is somebody else's",
        Reason::MergeConflict => "the branches that it starts from contradict each other",
        Reason::ChecksFailed => "a check did not succeed",
    }
}

/// What a person can do about it, most useful first.
pub(super) fn remedy(engine: &Engine, reason: Reason, task: TaskId, agent: &str) -> Outcome<Vec<String>> {
    let about = engine.agents()?.find(agent).map(Adapter::about);
    let other_agent = || format!("let another agent do it: `fleet task edit {task} --agent NAME`");
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
                "or name agents that take over by themselves: `fleet config set agents.{agent}.fallback '[\"NAME\"]'`"
            ),
        ],
        Reason::Untrusted => vec!["look at the repository's own commands with `fleet trust`".to_owned()],
        Reason::BranchTaken => vec![format!("choose another branch: `fleet task edit {task} --branch NAME`")],
        Reason::SetupFailed => {
            vec!["`workspaces.setup` has the set-up commands: `fleet config show`".to_owned()]
        }
        Reason::TimedOut => vec![format!("give it more time: `fleet task edit {task} --limit time=8h`")],
        Reason::OverBudget => vec![format!("let it use more: `fleet task edit {task} --limit usd=5`")],
        Reason::Stale => vec![format!("allow longer silence: `fleet config set limits.idle 1h`")],
        Reason::BlockedByAgent => vec![format!("say what it needs: `fleet prompt {task} \"…\"`")],
        Reason::MergeConflict => vec![
            format!(
                "merge them yourself and begin there: `fleet task edit {task} --base COMMIT`, then `fleet task retry {task}`"
            ),
            "or let the agent do it: `on_conflict = \"resolve\"` in the workflow's file".to_owned(),
        ],
        Reason::ChecksFailed => vec![
            format!("`fleet show {task}` has what it printed, and the file with all of it"),
            format!("say what it should do about it: `fleet prompt {task} \"…\"`"),
        ],
        Reason::AgentError
        | Reason::NoChanges
        | Reason::ContextOverflow
        | Reason::ProviderOutage
        | Reason::WorkspaceFailed
        | Reason::Lost => Vec::new(),
    })
}
