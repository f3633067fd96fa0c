//! Whether an agent can be started here: told before anything is queued that would wait for ever.

use fleet_agents::{Adapter, Program};
use fleet_core::problem::{Code, Outcome, Problem};

use crate::Engine;
use crate::runner::able;

/// Refuses an agent that nobody here could start.
pub(in crate::verbs) fn check(engine: &Engine, name: &str) -> Outcome<()> {
    let here = able(engine)?;
    if here.iter().any(|agent| agent.as_str() == name) {
        return Ok(());
    }
    let config = engine.config()?;
    let prefix = format!("agents.{name}.");
    let is_configured = || config.settings().iter().any(|setting| setting.key.starts_with(&prefix));
    let problem = if let Some(about) = engine.agents()?.find(name).map(Adapter::about) {
        let why = match &about.program {
            Program::OnPath(path) if path.starts_with('/') => format!("{path} is no program"),
            Program::OnPath(_) | Program::This => "its program is not on the PATH".to_owned(),
        };
        Problem::new(Code::AgentMissing, format!("no agent `{name}` here: {why}"))
            .hint(format!("to get it: {}", about.install))
    } else if name == config.agent() || is_configured() {
        Problem::new(
            Code::AgentMissing,
            format!("no agent `{name}` here: codefleet does not know how to start it"),
        )
    } else {
        Problem::new(Code::InvalidValue, format!("agent: there is no agent `{name}`"))
    };
    let names: Vec<String> = here.iter().map(|agent| format!("`{agent}`")).collect();
    let problem = problem.hint(format!("agents that can be started here: {}", names.join(", ")));
    Err(if name == config.agent() {
        problem.hint("choose one with `--agent NAME`, or for always with `fleet config set agent NAME`")
    } else {
        problem
    })
}
