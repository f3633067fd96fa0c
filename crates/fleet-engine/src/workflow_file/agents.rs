//! Whether the agents of a workflow are known, and may use the models that it names.

use std::collections::BTreeSet;

use fleet_core::problem::Outcome;
use fleet_core::task::ModelName;
use fleet_core::workflow::Stage;

use super::form::SourceMarks;
use super::reader::WorkflowReader;
use crate::runner::able;
use crate::{Engine, agents};

/// Reports agents that are unknown or cannot be started here, and models that they may not use.
pub(super) fn check(
    engine: &Engine,
    reader: &mut WorkflowReader<'_>,
    stages: &[Stage],
    marks: &[SourceMarks],
) -> Outcome<()> {
    let (registry, config, here) = (engine.agents()?, engine.config()?, able(engine)?);
    let mut absent = BTreeSet::new();
    for (stage, marks) in stages.iter().zip(marks) {
        let name = stage.agent.as_ref().map_or(config.agent(), |agent| agent.as_str());
        let at = Some(marks.of("agent").start);
        if let Err(problem) = agents::check_known(engine, name) {
            reader.refuse(at, problem.message, problem.hints.into_iter().next());
            continue;
        }
        if !here.iter().any(|known| known.as_str() == name) && absent.insert(name) {
            let help = registry.find(name).map(|adapter| format!("to get it: {}", adapter.about().install));
            reader.warn(at, format!("the agent `{name}` cannot be started on this machine"), help);
        }
        let model = stage.model.as_ref().map(ModelName::as_str);
        if let Err(problem) = agents::check(engine, Some(name), model) {
            // Another agent does not help a user who chose this one for the stage.
            let help = problem.hints.into_iter().find(|hint| !hint.starts_with("the agent `"));
            reader.refuse(Some(marks.of("model").start), problem.message, help);
        }
    }
    Ok(())
}
