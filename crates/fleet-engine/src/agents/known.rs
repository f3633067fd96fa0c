//! Whether an agent is known. One that is known need not be installed here: another machine may have it.

use fleet_agents::Registry;
use fleet_core::problem::{Outcome, Problem};

use crate::Engine;
use crate::config::{Config, ConfigValue, Setting, did_you_mean};

/// Whether codefleet brings an adapter for it, or the configuration says anything about it.
pub fn is_known(engine: &Engine, name: &str) -> Outcome<bool> {
    let config = engine.config()?;
    let is_configured = name == config.agent() || config.named_agents().any(|known| known == name);
    Ok(is_configured || engine.agents()?.find(name).is_some())
}

/// Refuses an unknown agent: a task that names it would wait forever.
pub fn check_known(engine: &Engine, name: &str) -> Outcome<()> {
    if is_known(engine, name)? {
        return Ok(());
    }
    let names = names(&engine.agents()?, engine.config()?);
    Err(Problem::field("agent", format!("there is no agent `{name}`"))
        .hint(meant(name, &names))
        .hint("describe one of your own with `fleet config edit`, even if only another machine has it"))
}

/// A warning for each unknown agent that a setting names. Only a warning: what describes the agent may come later, or
/// be in the configuration of another machine.
pub fn unknown_in_setting(engine: &Engine, setting: &Setting) -> Outcome<Vec<String>> {
    let names = names(&engine.agents()?, engine.config()?);
    let unknown = named_by(setting).iter().filter(|name| !names.contains(name));
    let warn = |name: &String| {
        format!("`{}` names the agent `{name}`, which is not known; {}", setting.key, meant(name, &names))
    };
    Ok(unknown.map(warn).collect())
}

fn meant(name: &str, names: &[String]) -> String {
    let meant = did_you_mean(name, names.iter().cloned());
    meant.unwrap_or_else(|| "`fleet agents` lists them".to_owned())
}

fn names(agents: &Registry, config: &Config) -> Vec<String> {
    let adapters = agents.all().map(|adapter| adapter.name().to_owned());
    adapters.chain(config.named_agents().map(ToOwned::to_owned)).collect()
}

/// The agents that a setting chooses among.
fn named_by(setting: &Setting) -> &[String] {
    let chooses = setting.key == "agent" || setting.key == "fallback" || setting.key.ends_with(".fallback");
    match &setting.value {
        ConfigValue::String(name) if chooses => std::slice::from_ref(name),
        ConfigValue::List(names) if chooses => names,
        _ => &[],
    }
}
