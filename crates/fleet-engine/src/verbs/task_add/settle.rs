//! What the runner that starts a task does not know, written into it.
//!
//! A task that says nothing about its agent, its model or its limits takes what is configured when it starts: a change
//! reaches tasks that are already queued. But the runner that starts it is another process, which has not seen the
//! variables and flags of this one: what those say is what its author said. And it has one agent for the tasks of all
//! projects that name none: what the file of the project says comes before that.

use std::time::Duration;

use fleet_core::task::{AgentName, TaskSpec};

use crate::trust;
use crate::verbs::prelude::*;

/// The longest that the settings take: a task that says no bound would have the configured one.
const NO_BOUND: Duration = Duration::from_hours(30 * 24);

/// Fills in what variables and flags of this process say, and the agent of the project, where the author left it out.
pub(crate) fn settle(engine: &Engine, spec: &mut TaskSpec) -> Outcome<()> {
    let config = engine.config()?;
    let agent = spec.agent.as_ref().map_or(config.agent(), AgentName::as_str).to_owned();
    let model_key = format!("agents.{agent}.model");
    let says_model = spec.model.is_none() && config.is_here_alone(&model_key);
    let says_effort = spec.tuning.effort.is_none() && config.is_here_alone(&format!("agents.{agent}.effort"));
    if spec.agent.is_none() && config.is_of_project("agent") {
        trust::take_agent(spec, &agent)?;
    }
    // A model is one of an agent, and so are the words for effort: with another one they would be wrong.
    if spec.agent.is_none() && (says_model || says_effort || config.is_here_alone("agent")) {
        spec.agent = Some(agent.parse().map_err(problems::field)?);
    }
    if let Some(model) = config.model_for(&agent).filter(|_| says_model) {
        spec.model = Some(model.parse().map_err(problems::field)?);
    }
    if let Some(effort) = config.agent_settings(&agent).effort.filter(|_| says_effort) {
        spec.tuning.effort = Some(effort);
    }
    if spec.mode.is_interactive() {
        // Their limits are only those that an author set for one task.
        return Ok(());
    }
    let seconds = |key: &str, bound: Option<Duration>| {
        config.is_here_alone(key).then(|| bound.unwrap_or(NO_BOUND).as_secs().max(1))
    };
    let limits = config.limits();
    spec.limits.seconds = spec.limits.seconds.or_else(|| seconds("limits.time", limits.time));
    spec.limits.idle_seconds = spec.limits.idle_seconds.or_else(|| seconds("limits.idle", limits.idle));
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use fleet_core::limits::Limits;
    use fleet_testkit::repo::Repo;

    use super::*;
    use crate::EngineStart;
    use crate::environment::Environment;

    /// What becomes of a task of this agent, in a home with this file.
    fn settled(file: &str, variables: &[(&str, &str)], agent: Option<&str>) -> TaskSpec {
        let dir = tempfile::tempdir().unwrap();
        settled_in(dir.path(), file, variables, agent)
    }

    fn settled_in(dir: &Path, file: &str, variables: &[(&str, &str)], agent: Option<&str>) -> TaskSpec {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("config.toml"), file).unwrap();
        let home = home.path().to_str().unwrap();
        let all = variables.iter().copied().chain([("FLEET_HOME", home), ("HOME", home)]);
        let environment = Environment::from_pairs(all).with_current_directory(dir);
        let engine = Engine::new(EngineStart { environment, directory: None, flags: Vec::new() }).unwrap();
        let mut spec = TaskSpec::new("a task".parse().unwrap());
        spec.agent = agent.map(|agent| agent.parse().unwrap());
        settle(&engine, &mut spec).unwrap();
        spec
    }

    fn who(spec: &TaskSpec) -> (Option<&str>, Option<&str>) {
        let name = |text: &'_ dyn std::fmt::Display| text.to_string().leak() as &str;
        (spec.agent.as_ref().map(|agent| name(agent)), spec.model.as_ref().map(|model| name(model)))
    }

    #[test]
    fn files_are_seen_by_everybody_and_stay_out_of_the_task() {
        let file = "agent = 'codex'\n[agents.codex]\nmodel = 'gpt-5'\n[limits]\ntime = '5m'\nidle = '1m'\n";
        let spec = settled(file, &[], None);
        assert_eq!((who(&spec), spec.limits), ((None, None), Limits::default()));
    }

    #[test]
    fn variables_are_written_into_the_task() {
        let spec =
            settled("", &[("FLEET_DEFAULT_EXECUTOR", "codex"), ("FLEET_DEFAULT_MODEL", "gpt-5")], None);
        assert_eq!(who(&spec), (Some("codex"), Some("gpt-5")));
        let spec = settled("", &[("FLEET_DEFAULT_TIMEOUT", "90"), ("FLEET_STALE_TIMEOUT", "0.5")], None);
        assert_eq!((spec.limits.seconds, spec.limits.idle_seconds), (Some(90), Some(1)));
        let spec = settled("", &[("FLEET_STALE_TIMEOUT", "0")], None);
        assert_eq!(spec.limits.idle_seconds, Some(NO_BOUND.as_secs()), "no bound of one's own is no bound");
    }

    #[test]
    fn a_model_goes_with_its_agent_alone() {
        let model = [("FLEET_DEFAULT_MODEL", "gpt-5")];
        assert_eq!(who(&settled("", &model, None)), (None, None), "the agent is claude");
        assert_eq!(who(&settled("", &model, Some("codex"))), (Some("codex"), Some("gpt-5")));
        let spec = settled("agent = 'codex'", &model, None);
        assert_eq!(who(&spec), (Some("codex"), Some("gpt-5")), "whatever the agent is by then");
    }

    #[test]
    fn effort_goes_with_its_agent_too() {
        let effort = |variables: &[(&str, &str)], agent| {
            let spec = settled("agents.codex.effort = 'low'", variables, agent);
            spec.tuning.effort
        };
        let max = [("FLEET_REASONING_EFFORT", "max")];
        assert_eq!(effort(&max, Some("codex")).as_deref(), Some("xhigh"));
        assert_eq!(effort(&max, Some("claude")).as_deref(), Some("max"));
        assert_eq!(effort(&max, Some("gemini")), None);
        assert_eq!(effort(&[], Some("codex")), None, "a file is seen by everybody");
    }

    #[test]
    fn the_agent_of_the_project_comes_before_that_of_the_user() {
        let repo = Repo::init();
        repo.write(".fleet/config.toml", "agent = 'codex'");
        let agent = |variables: &[(&str, &str)], agent| {
            let spec = settled_in(repo.path(), "agent = 'demo'", variables, agent);
            format!("{} {}", spec.agent.unwrap(), spec.project_agent.iter().len())
        };
        assert_eq!(agent(&[], None), "codex 1", "it is noted who chose it");
        assert_eq!(agent(&[("FLEET_AGENT", "gemini")], None), "gemini 0");
        assert_eq!(agent(&[], Some("codex")), "codex 0");
    }

    #[test]
    fn what_the_author_said_stays() {
        let variables = [("FLEET_AGENT", "codex"), ("FLEET_LIMITS_TIME", "1h")];
        let spec = settled("", &variables, Some("gemini"));
        assert_eq!((who(&spec), spec.limits.seconds), ((Some("gemini"), None), Some(3_600)));
    }
}
