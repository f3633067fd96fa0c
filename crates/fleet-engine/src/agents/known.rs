//! Whether anybody has heard of an agent. One that is known need not be installed here: another machine may have it.

use fleet_core::problem::{Code, Outcome, Problem};

use crate::Engine;
use crate::config::nearest;

/// Whether codefleet brings an adapter for it, or the configuration says anything about it.
pub fn is_known(engine: &Engine, name: &str) -> Outcome<bool> {
    let config = engine.config()?;
    let is_configured = name == config.agent() || config.named_agents().any(|known| known == name);
    Ok(is_configured || engine.agents()?.find(name).is_some())
}

/// Refuses an agent that nobody has heard of: a task that names it would wait for ever.
pub fn check_known(engine: &Engine, name: &str) -> Outcome<()> {
    if is_known(engine, name)? {
        return Ok(());
    }
    let (agents, config) = (engine.agents()?, engine.config()?);
    let mut names: Vec<String> = agents.all().map(|adapter| adapter.name().to_owned()).collect();
    names.extend(config.named_agents().map(ToOwned::to_owned));
    let problem = Problem::new(Code::InvalidValue, format!("agent: there is no agent `{name}`"));
    Err(match nearest(name, names.into_iter()) {
        Some(meant) => problem.hint(format!("did you mean `{meant}`?")),
        None => problem.hint("`fleet agents` shows those that there are"),
    }
    .hint("one of your own, also one that only another machine has, is described with `fleet config edit`"))
}
