//! Whether agents can be started here: reported before anything is queued that would wait forever.

use std::collections::BTreeSet;

use fleet_agents::{Adapter, Program};

use crate::agents::check_known;
use crate::runner::able;
use crate::verbs::doctor::other_agent;
use crate::verbs::prelude::*;

pub(in crate::verbs) fn check(engine: &Engine, name: &str) -> Outcome<()> {
    check_all(engine, &BTreeSet::from([name]))
}

/// Refuses agents that cannot be started here, all of them at once.
pub(super) fn check_all(engine: &Engine, names: &BTreeSet<&str>) -> Outcome<()> {
    let here = able(engine)?;
    let is_here = |name: &str| here.iter().any(|agent| agent.as_str() == name);
    let missing: Vec<&str> = names.iter().copied().filter(|name| !is_here(name)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    for name in &missing {
        check_known(engine, name)?;
    }
    let mut problem = Problem::new(Code::AgentMissing, why(engine, &missing)?);
    let (agents, config) = (engine.agents()?, engine.config()?);
    for name in &missing {
        if let Some(about) = agents.find(name).map(Adapter::about) {
            let what = if missing.len() == 1 { "it" } else { name };
            problem = problem.hint(format!("to get {what}: {}", about.install));
        }
    }
    let names: Vec<String> = here.iter().map(|agent| format!("`{agent}`")).collect();
    let problem = problem.hint(format!("agents that can be started here: {}", names.join(", ")));
    Err(if missing.contains(&config.agent()) {
        let how = other_agent(&config.get("agent")?.origin);
        problem.hint(format!("name one of these with `--agent NAME`, or change the default: {how}"))
    } else {
        problem
    })
}

/// Why they cannot be started, each reason once.
fn why(engine: &Engine, missing: &[&str]) -> Outcome<String> {
    let agents = engine.agents()?;
    let mut not_found = Vec::new();
    let mut reasons = Vec::new();
    for name in missing {
        match agents.find(name).map(|agent| agent.about().program) {
            Some(Program::OnPath(path)) if path.starts_with('/') => {
                reasons.push(format!("no agent `{name}` here: {path} is not a program"));
            }
            Some(Program::OnPath(_) | Program::This) => not_found.push(format!("`{name}`")),
            None => reasons.push(format!("no agent `{name}` here: codefleet does not know how to start it")),
        }
    }
    match not_found.as_slice() {
        [] => {}
        [name] => reasons.insert(0, format!("no agent {name} here: its program is not on the PATH")),
        names => {
            reasons.insert(
                0,
                format!("no agents {} here: their programs are not on the PATH", names.join(", ")),
            );
        }
    }
    Ok(reasons.join("; "))
}
