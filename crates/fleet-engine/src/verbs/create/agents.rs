//! Whether agents can be started here: reported before anything is queued that would wait forever.

use std::collections::BTreeSet;
use std::path::Path;

use fleet_agents::{Adapter, Brief, Program};
use fleet_core::task::TaskSpec;

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

/// Whether an agent has an interface in a terminal.
pub(in crate::verbs) fn has_terminal(engine: &Engine, name: &str) -> Outcome<bool> {
    let brief = Brief::plain("", Path::new("/"));
    Ok(engine.agents()?.find(name).is_none_or(|agent| agent.terminal(&brief).is_some()))
}

/// Refuses to run an agent in a terminal that has no interface for that.
pub(super) fn check_terminals(engine: &Engine, specs: &[TaskSpec]) -> Outcome<()> {
    for spec in specs.iter().filter(|spec| spec.mode.is_interactive()) {
        let Some(agent) = &spec.agent else { continue };
        if !has_terminal(engine, agent.as_str())? {
            return Err(no_terminal(agent.as_str()));
        }
    }
    Ok(())
}

pub(in crate::verbs) fn no_terminal(name: &str) -> Problem {
    Problem::field("interactive", format!("the agent `{name}` has no interface in a terminal")).hint(format!(
        "`--headless` runs it without; `agents.{name}.terminal_args` says how to start an agent of yours"
    ))
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
