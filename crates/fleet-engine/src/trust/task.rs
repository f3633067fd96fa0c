//! What a task takes of the wishes of its project.
//!
//! Owns that what its author said instead, and what it does without, needs no consent.

use fleet_core::problem::Outcome;
use fleet_core::task::{AgentName, Setup, TaskSpec};

use super::{OF_SETUP, ProjectWishes};
use crate::config::{ConfigValue, Setting};
use crate::problems;

impl ProjectWishes {
    /// Those that this task depends on.
    #[must_use]
    pub(crate) fn of_task(mut self, spec: &TaskSpec) -> Self {
        self.commands.retain(|setting| takes(spec, setting));
        self
    }
}

/// Gives a task the agent that the file of its project names.
pub(crate) fn take_agent(spec: &mut TaskSpec, agent: &str) -> Outcome<()> {
    let agent: AgentName = agent.parse().map_err(problems::field)?;
    (spec.agent, spec.project_agent) = (Some(agent.clone()), Some(agent));
    Ok(())
}

fn takes(spec: &TaskSpec, Setting { key, value, .. }: &Setting) -> bool {
    match key.as_str() {
        // A task that was given to another agent since has the agent that the user chose.
        "agent" => spec.agent.is_none() || spec.agent == spec.project_agent,
        "limits.time" | "limits.idle" if spec.mode.is_interactive() => false,
        "limits.time" => spec.limits.seconds.is_none(),
        "limits.idle" => spec.limits.idle_seconds.is_none(),
        // They are in every task, whatever their origin.
        "tasks.retries" => *value == ConfigValue::Integer(spec.retry.retries.into()),
        "tasks.check_retries" => *value == ConfigValue::Integer(spec.retry.check_retries.into()),
        // What changes no file is not checked.
        "workspaces.checks" => !spec.read_only,
        key => !(OF_SETUP.contains(&key) && spec.setup == Setup::Skip),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Origin;

    fn left(spec: &TaskSpec) -> Vec<String> {
        let text = |text: &str| ConfigValue::String(text.to_owned());
        let setting = |(key, value): (&str, ConfigValue)| Setting {
            key: key.to_owned(),
            value,
            origin: Origin::Project { path: "config.toml".into(), line: 1 },
        };
        let wishes = [
            ("agent", text("codex")),
            ("tasks.retries", ConfigValue::Integer(9)),
            ("limits.time", text("9h")),
            ("limits.idle", text("1h")),
            ("limits.log", text("1GB")),
            ("workspaces.setup", ConfigValue::List(vec!["make".to_owned()])),
        ];
        let commands = wishes.into_iter().map(setting).collect();
        let asked = ProjectWishes { project: "/a".to_owned(), commands, files: Vec::new() };
        asked.of_task(spec).commands.into_iter().map(|setting| setting.key).collect()
    }

    #[test]
    fn what_the_author_said_needs_no_consent() {
        let mut spec = TaskSpec::new("a task".parse().unwrap());
        spec.retry.retries = 9;
        let all = ["agent", "tasks.retries", "limits.time", "limits.idle", "limits.log", "workspaces.setup"];
        assert_eq!(left(&spec), all);
        spec.agent = Some("codex".parse().unwrap());
        spec.retry.retries = 1;
        (spec.limits.seconds, spec.limits.idle_seconds) = (Some(1), Some(1));
        assert_eq!(left(&spec), ["limits.log", "workspaces.setup"]);
        spec.setup = Setup::Skip;
        assert_eq!(left(&spec), ["limits.log"]);
    }

    #[test]
    fn an_agent_that_the_project_chose_needs_consent() {
        let mut spec = TaskSpec::new("a task".parse().unwrap());
        take_agent(&mut spec, "codex").unwrap();
        assert_eq!(left(&spec)[0], "agent");
        spec.agent = Some("demo".parse().unwrap());
        assert_eq!(left(&spec)[0], "limits.time", "somebody gave it to another one");
    }
}
