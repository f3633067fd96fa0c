//! The place of a test: a playground that knows the user's agents and nothing else of the user's.

use std::fs;

use fleet_core::run::Reason;

use crate::agents;
use crate::config::{self, Config, ConfigFile, ConfigValue};
use crate::playground::{Contents, Playground};
use crate::verbs::prelude::*;

const CONTENTS: Contents<'_> = Contents {
    name: "test",
    repository: "repository",
    files: &[("README.md", "# A scratch repository\n\nIt is removed in a moment.\n")],
};

pub(super) fn build(outer: &Engine) -> Outcome<Playground> {
    let configure = |home: &std::path::Path| configure(outer, &ConfigFile::User(home.join("config.toml")));
    Playground::build(outer, CONTENTS, configure)
}

/// The user's settings of agents, and a queue that tries nothing twice: a user who tests wants to know at once.
fn configure(outer: &Engine, file: &ConfigFile) -> Outcome<()> {
    // The settings of the current repository do not matter.
    let user = outer.without_project();
    for (key, text) in of_agents(&user, user.config()?)? {
        config::set(file, &key, &text)?;
    }
    for reason in Reason::ALL {
        config::set(file, &format!("policy.{reason}"), "give_up")?;
    }
    for (key, text) in [("workspaces.pool", "0"), ("workspaces.snapshot_every", "none")] {
        config::set(file, key, text)?;
    }
    let prices = agents::price_file(&user);
    if prices.exists() {
        let into = file.path().with_file_name("prices.toml");
        fs::copy(&prices, &into).map_err(problems::at(&prices))?;
    }
    Ok(())
}

/// As they can be set again: files that are beside the user's own configuration are named in full.
fn of_agents(user: &Engine, config: &Config) -> Outcome<Vec<(String, String)>> {
    let mut all = Vec::new();
    for setting in config.settings().into_iter().filter(|setting| setting.key.starts_with("agents.")) {
        let text = match (setting.key.rsplit('.').next(), setting.value.revealed()) {
            (Some("mcp"), ConfigValue::String(path)) => in_full(user, &path)?,
            (Some("system_prompt"), ConfigValue::String(text)) => match text.strip_prefix('@') {
                Some(path) => format!("@{}", in_full(user, path)?),
                None => text,
            },
            (_, value) => value.to_string(),
        };
        all.push((setting.key, text));
    }
    Ok(all)
}

fn in_full(user: &Engine, path: &str) -> Outcome<String> {
    Ok(agents::file(user, path)?.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EngineStart;
    use crate::environment::Environment;

    #[test]
    fn it_has_the_users_agents_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let settings = "store = 'sqlite:/elsewhere'\nagent = 'codex'\nworkspaces.setup = ['exit 1']\n\
             [agents.demo]\nargs = ['a, b', \"c\"]\nmcp = 'servers.json'\nsystem_prompt = '@orders.md'\n\
             env.KEY = 'hunter2'\n[agents.codex]\nmodel = 'gpt-5'\nsystem_prompt = \"Be\\nbrief\"\n";
        fs::write(dir.path().join("config.toml"), settings).unwrap();
        fs::write(dir.path().join("prices.toml"), "[models.x]\ninput = 1\noutput = 2\n").unwrap();
        let place = dir.path().as_os_str();
        let mut pairs =
            vec![("FLEET_HOME", place.to_owned()), ("HOME", place.to_owned()), ("TMPDIR", place.to_owned())];
        pairs.push(("FLEET_AGENTS_DEMO_EFFORT", "low".into()));
        pairs.push(("FLEET_RUN", "r1".into()));
        let environment = Environment::from_pairs(pairs).with_current_directory(dir.path());
        let outer = Engine::new(EngineStart { environment, directory: None, flags: Vec::new() }).unwrap();
        let stage = build(&outer).unwrap();
        let config = stage.engine().config().unwrap();
        assert_eq!(
            (config.store(), config.agent(), config.workspaces().setup.len()),
            ("sqlite", "claude", 0)
        );
        let demo = config.agent_settings("demo");
        assert_eq!((demo.args, demo.effort.as_deref()), (vec!["a, b".into(), "c".into()], Some("low")));
        let beside = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
        assert_eq!(demo.mcp, Some(beside("servers.json")));
        assert_eq!(demo.system_prompt, Some(format!("@{}", beside("orders.md"))));
        assert_eq!(config.variables_for("demo").set["KEY"].revealed(), "hunter2");
        let codex = config.agent_settings("codex");
        assert_eq!(
            (codex.model.as_deref(), codex.system_prompt.as_deref()),
            (Some("gpt-5"), Some("Be\nbrief"))
        );
        assert!(agents::prices(stage.engine()).unwrap().find("x").is_some());
        assert!(stage.engine().environment().get_os("FLEET_RUN").is_none());
        assert!(stage.engine().repository().is_ok());
        let dir = stage.dir().to_owned();
        drop(stage);
        assert!(!dir.exists(), "whoever leaves leaves nothing behind");
    }
}
