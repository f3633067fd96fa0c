//! Phrases that several commands print.

use fleet_core::text::escaped;

use super::dim;

/// `claude/opus`; `-` stands for an agent that nobody named.
pub(crate) fn agent_and_model(agent: Option<&str>, model: Option<&str>) -> String {
    match (agent, model) {
        (agent, Some(model)) => format!("{}/{model}", agent.unwrap_or("-")),
        (agent, None) => agent.unwrap_or_default().to_owned(),
    }
}

/// What to do next, one thing on each line.
pub(crate) fn arrows(lines: &[String]) -> String {
    let lines = lines.iter().map(|line| format!("  {} {}", dim("→"), escaped(line)));
    lines.collect::<Vec<_>>().join("\n")
}
