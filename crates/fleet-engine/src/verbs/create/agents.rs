//! Whether agents can be started here: told before anything is queued that would wait for ever.

use std::collections::BTreeSet;

use fleet_agents::{Adapter, Program};
use fleet_core::problem::{Code, Outcome, Problem};

use crate::Engine;
use crate::agents::check_known;
use crate::runner::able;
use crate::verbs::doctor::other_agent;

pub(in crate::verbs) fn check(engine: &Engine, name: &str) -> Outcome<()> {
    check_all(engine, &BTreeSet::from([name]))
}

/// Refuses agents that nobody here could start, all of them at once.
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
    let reasons = missing.iter().map(|name| why(engine, name)).collect::<Outcome<Vec<String>>>()?;
    let mut problem = Problem::new(Code::AgentMissing, reasons.join("; "));
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

fn why(engine: &Engine, name: &str) -> Outcome<String> {
    let why = match engine.agents()?.find(name).map(Adapter::about).map(|about| about.program) {
        Some(Program::OnPath(path)) if path.starts_with('/') => format!("{path} is not a program"),
        Some(Program::OnPath(_) | Program::This) => "its program is not on the PATH".to_owned(),
        None => "codefleet does not know how to start it".to_owned(),
    };
    Ok(format!("no agent `{name}` here: {why}"))
}
