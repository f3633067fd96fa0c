//! On what terms an agent works on a task: everything that the configuration decides about it.

use fleet_agents::{McpServer, Prices, Registry, Trust};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::task::refused_arg;
use fleet_core::text::escaped;

use super::contexts::ContextSizes;
use super::{choice, file, mcp, prices, trust};
use crate::Engine;

#[derive(Debug, Clone, Copy, Default)]
pub struct RunWish<'a> {
    pub model: Option<&'a str>,
    pub read_only: bool,
    /// How hard the model should think; none is what is set.
    pub effort: Option<&'a str>,
    /// Further arguments, which the user must have allowed.
    pub args: &'a [String],
}

/// What an agent gets and may do. Has no `Debug`: tool servers are given passwords.
#[derive(Clone, PartialEq, Eq)]
pub struct Terms {
    /// The model; none is the agent's own default.
    pub model: Option<String>,
    pub effort: Option<String>,
    pub trust: Trust,
    pub system_prompt: Option<String>,
    pub mcp: Vec<McpServer>,
    /// Arguments behind those of the adapter.
    pub extra_args: Vec<String>,
    /// Whether its last answer is held to the schema of a report.
    pub structured: bool,
    pub prices: Prices,
    pub context_sizes: ContextSizes,
}

impl Terms {
    /// What must not appear in logs.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        self.mcp.iter().flat_map(|server| server.env.iter().map(|(_, value)| value.as_str()))
    }
}

/// The terms for a task of the engine's project. Reads the files that the settings name.
pub fn terms(engine: &Engine, agent: &str, wish: RunWish<'_>) -> Outcome<Terms> {
    let config = engine.config()?;
    let settings = config.agent_settings(agent);
    let key = |name: &str| format!("agents.{agent}.{name}");
    let system_prompt = match settings.system_prompt.as_deref().map(|text| (text, text.strip_prefix('@'))) {
        Some((_, Some(path))) => Some(mcp::text(&key("system_prompt"), &file(engine, path)?)?),
        Some((text, None)) => Some(text.to_owned()),
        None => None,
    };
    let servers = settings.mcp.as_deref().map(|path| mcp::servers(&key("mcp"), &file(engine, path)?));
    // The arguments of an agent of the user's own are a part of its adapter.
    let is_known = Registry::default().find(agent).is_some();
    let model = choice::chosen(engine, agent, wish.model)?;
    let trust = if wish.read_only { Trust::ReadOnly } else { trust(config, agent) };
    check_args(agent, wish.args, trust, &settings.task_args)?;
    Ok(Terms {
        model,
        prices: prices(engine)?,
        context_sizes: ContextSizes {
            of_agent: settings.context_limit,
            of_models: config.limits().context_sizes.clone(),
        },
        effort: wish.effort.map(ToOwned::to_owned).or(settings.effort),
        trust,
        system_prompt,
        mcp: servers.transpose()?.unwrap_or_default(),
        extra_args: if is_known { [settings.args.as_slice(), wish.args].concat() } else { Vec::new() },
        structured: settings.structured.unwrap_or(false),
    })
}

/// Arguments of a task could take an agent out of its sandbox, so that each must be one which the user allows. An agent
/// that may do everything has no sandbox to leave.
fn check_args(agent: &str, args: &[String], trust: Trust, allowed: &[String]) -> Outcome<()> {
    if trust == Trust::Full {
        return Ok(());
    }
    let Some(refused) = refused_arg(args, allowed) else { return Ok(()) };
    let message = format!("extra_args: a task may not give {agent} the argument {:?}", escaped(refused));
    Err(Problem::new(Code::InvalidValue, message).hint(format!(
        "`fleet config set agents.{agent}.task_args OPTION` lets tasks use that option, if it is harmless"
    )))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use fleet_core::problem::Code;

    use super::super::{account, accounts};
    use super::*;
    use crate::EngineStart;
    use crate::environment::Environment;

    fn engine(dir: &tempfile::TempDir, config: &str) -> Engine {
        fs::write(dir.path().join("config.toml"), config).unwrap();
        let environment = Environment::from_pairs([("FLEET_HOME", dir.path()), ("HOME", dir.path())])
            .with_current_directory(dir.path());
        Engine::new(EngineStart { environment, directory: None, flags: Vec::new() }).unwrap()
    }

    #[test]
    fn without_settings_an_agent_works_in_its_sandbox() {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(&dir, "");
        let terms = terms(&engine, "demo", RunWish::default()).ok().unwrap();
        assert_eq!((terms.model, terms.trust), (None, Trust::Sandbox));
        assert_eq!(account(&engine, "demo").unwrap(), "demo:default");
        assert_eq!(account(&engine, "nobody").unwrap(), "nobody:default");
        assert_eq!(accounts(&engine).unwrap()[&"demo".parse().unwrap()], "demo:default");
    }

    #[test]
    fn a_task_may_bring_effort_and_only_arguments_that_the_user_allows() {
        let dir = tempfile::tempdir().unwrap();
        let args = ["--max-turns".to_owned(), "5".to_owned()];
        let wish = RunWish { effort: Some("max"), args: &args, ..RunWish::default() };
        let config = |rest: &str| format!("[agents.claude]\neffort = 'low'\nargs = ['-v']\n{rest}");
        let Err(problem) = terms(&engine(&dir, &config("")), "claude", wish) else { panic!("not allowed") };
        assert_eq!(problem.code, Code::InvalidValue);
        assert!(problem.to_string().contains("--max-turns"), "{problem}");
        for rest in ["task_args = ['--max-turns']", "trust = 'full'"] {
            let terms = terms(&engine(&dir, &config(rest)), "claude", wish).ok().unwrap();
            assert_eq!(terms.effort.as_deref(), Some("max"));
            assert_eq!(terms.extra_args, ["-v", "--max-turns", "5"]);
        }
        let look = RunWish { read_only: true, ..wish };
        assert!(terms(&engine(&dir, &config("trust = 'full'")), "claude", look).is_err(), "it would be free");
    }

    #[test]
    fn settings_and_the_files_that_they_name_become_terms() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("orders.md"), "Be brief.\n").unwrap();
        let servers = r#"{"mcpServers": {"t": {"command": "srv", "env": {"K": "hunter2"}}}}"#;
        fs::write(dir.path().join("servers.json"), servers).unwrap();
        let config = "[agents.demo]\nmodel = 'm'\neffort = 'low'\ntrust = 'full'\nargs = ['-v']\nstructured = true\n\
                      system_prompt = '@orders.md'\nmcp = '~/servers.json'\nprovider = 'acme'\naccount = 'work'\n";
        let engine = engine(&dir, config);
        let terms = |wish| terms(&engine, "demo", wish).ok().unwrap();
        let usual = terms(RunWish::default());
        assert_eq!((usual.model.as_deref(), usual.effort.as_deref()), (Some("m"), Some("low")));
        assert_eq!(
            (usual.system_prompt.as_deref(), usual.mcp[0].command.as_str()),
            (Some("Be brief.\n"), "srv")
        );
        assert_eq!((usual.extra_args.len(), usual.structured), (1, true));
        assert_eq!((usual.trust, account(&engine, "demo").unwrap().as_str()), (Trust::Full, "acme:work"));
        assert_eq!(usual.secrets().collect::<Vec<_>>(), ["hunter2"]);
        let look = terms(RunWish { model: Some("other"), read_only: true, ..RunWish::default() });
        assert_eq!((look.model.as_deref(), look.trust), (Some("other"), Trust::ReadOnly));
    }

    #[test]
    fn a_file_that_is_missing_names_its_setting() {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(&dir, "agents.demo.system_prompt = '@nothing.md'");
        let Err(problem) = terms(&engine, "demo", RunWish::default()) else { panic!("it is missing") };
        assert_eq!(problem.code, Code::ConfigInvalid);
        assert!(problem.to_string().starts_with("agents.demo.system_prompt: "), "{problem}");
    }
}
