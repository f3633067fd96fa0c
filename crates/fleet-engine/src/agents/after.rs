//! What the configuration says about the time after a run, and about what runs may use.

use std::collections::BTreeSet;

use fleet_core::budget::{Bounds, Budget, Used};
use fleet_core::policy::{FailureAction, Policy};
use fleet_core::problem::Outcome;
use fleet_core::task::AgentName;
use fleet_core::time::Millis;
use fleet_store::ops;

use super::accounts;
use crate::config::Config;
use crate::{Engine, problems, runner};

/// What decides about a failed run of this agent. Agents that cannot be started here do not take over.
pub(crate) fn after(engine: &Engine, agent: &str) -> Outcome<ops::FailureSettings> {
    let config = engine.config()?;
    let fallback = config.fallback_for(agent);
    // Which programs are there is looked for only if it matters: usually no agent takes over.
    let able = if fallback.is_empty() { BTreeSet::new() } else { runner::able(engine)? };
    let fallback = fallback.iter().filter_map(|name| name.parse::<AgentName>().ok());
    Ok(ops::FailureSettings {
        policy: policy(config),
        reset: None,
        default_agent: Some(config.agent().parse().map_err(problems::field)?),
        fallback: fallback.filter(|name| able.contains(name)).collect(),
        accounts: accounts(engine)?,
    })
}

/// The same with the moment at which the provider said that it goes on.
pub(crate) fn until(after: &ops::FailureSettings, reset: Option<Millis>) -> ops::FailureSettings {
    ops::FailureSettings { reset, ..after.clone() }
}

fn policy(config: &Config) -> Policy {
    let words = config.policy().into_iter();
    let wishes = words.filter_map(|(reason, word)| Some((reason, word.parse::<FailureAction>().ok()?)));
    let usual = Policy::default()
        .with_rate_limits(config.rate_limits())
        .with_context_restarts(config.limits().context_restarts);
    wishes.fold(usual, |policy, (reason, action)| policy.with(reason, action))
}

/// What all runs together may use; none is no bound.
pub(crate) fn budget(config: &Config) -> Option<Budget> {
    let spending = config.spending();
    let budget = Budget {
        day: Bounds { micro_usd: spending.day_micro_usd, tokens: spending.day_tokens },
        total: Bounds { micro_usd: spending.total_micro_usd, tokens: None },
        run: Used { micro_usd: spending.run_micro_usd, ..Budget::default().run },
    };
    Some(budget).filter(|budget| !budget.is_empty())
}
