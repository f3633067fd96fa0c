//! Which agents there are, which of them does a task with which model, and on what terms.
//!
//! Owns what the configuration says about agents, as far as it takes more than reading a value: the registry with the
//! user's own agents in it, the choice of a model, the files that settings name. Must never ask which agent it is: what
//! differs between them is in their adapters.

mod after;
mod choice;
mod configured;
mod contexts;
mod installed;
mod known;
mod login;
mod mcp;
mod notice;
mod prices;
mod terms;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fleet_agents::{Adapter, OverriddenAgent, Registry};
use fleet_core::problem::Outcome;
use fleet_core::task::AgentName;

use crate::Engine;
use crate::config::Config;
use crate::environment::Environment;

pub(crate) use after::{after, budget, until};
pub use choice::{ModelRefused, check, model};
pub use contexts::ContextSizes;
pub use installed::{Installed, look, path};
pub use known::{check_known, is_known, unknown_in_setting};
pub(crate) use login::login;
pub use notice::{TrustNotice, notice};
pub(crate) use prices::PRICE_FILE;
pub use prices::{PriceTable, price_file, price_tables, prices};
pub use terms::{RunWish, Terms, terms};

/// The account of an agent for which none is named.
const ACCOUNT: &str = "default";

/// The known agents, started as the user wants it, and the user's own.
pub(crate) fn registry(config: &Config, environment: &Environment) -> Outcome<Registry> {
    let known = Registry::default();
    let mut changed: Vec<Arc<dyn Adapter>> = Vec::new();
    for name in config.named_agents() {
        let settings = config.agent_settings(name);
        let program = settings.program.as_deref().map(|program| environment.expanded(Path::new(program)));
        let program = program.transpose()?.map(|program| program.to_string_lossy().into_owned());
        match (known.get(name), program) {
            (Some(_), None) if settings.provider.is_none() => {}
            (Some(adapter), program) => {
                changed.push(Arc::new(
                    OverriddenAgent::new(adapter).program(program).provider(settings.provider),
                ));
            }
            (None, Some(program)) => {
                changed.push(Arc::new(configured::adapter(name, program, settings, &known)?));
            }
            // Settings of an agent that another machine has.
            (None, None) => {}
        }
    }
    Ok(known.with(changed))
}

/// A file that a setting names: at home, anywhere, or beside the configuration.
pub(crate) fn file(engine: &Engine, path: &str) -> Outcome<PathBuf> {
    Ok(engine.home().root().join(engine.environment().expanded(Path::new(path))?))
}

/// Whose limits an agent has, in one word: agents with the same are paused together.
pub fn account(engine: &Engine, agent: &str) -> Outcome<String> {
    let settings = engine.config()?.agent_settings(agent);
    let agents = engine.agents()?;
    // An agent that is not known here shares no account.
    let provider = agents.find(agent).map_or_else(|| agent.to_owned(), |known| known.about().provider.into());
    let provider = settings.provider.unwrap_or(provider);
    Ok(format!("{provider}:{}", settings.account.as_deref().unwrap_or(ACCOUNT)))
}

pub fn accounts(engine: &Engine) -> Outcome<BTreeMap<AgentName, String>> {
    let agents = engine.agents()?;
    let names = agents.all().filter_map(|adapter| adapter.name().parse::<AgentName>().ok());
    names.map(|name| Ok((name.clone(), account(engine, name.as_str())?))).collect()
}

/// What an agent may do without asking, unless the task asks for less.
pub fn trust(config: &Config, agent: &str) -> fleet_agents::Trust {
    config.agent_settings(agent).trust.unwrap_or(fleet_agents::Trust::Sandbox)
}
