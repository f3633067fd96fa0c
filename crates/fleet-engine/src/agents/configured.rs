//! Agents that only the configuration describes.

use fleet_agents::{Custom, CustomSpec, OutputPatterns, PromptVia, Registry};
use fleet_core::problem::{Code, Outcome, Problem};

use crate::config::AgentSettings;

/// The agent with this name, started by this program. A wrong description is reported before anything is queued for it.
pub(super) fn adapter(
    name: &str,
    program: String,
    settings: AgentSettings,
    known: &Registry,
) -> Outcome<Custom> {
    let spec = CustomSpec {
        name: name.to_owned(),
        program,
        args: settings.args,
        resume_args: settings.resume_args,
        terminal_args: settings.terminal_args,
        trust_args: [settings.args_read_only, settings.args_sandbox, settings.args_full],
        prompt: settings.prompt.map(|word| if word == "file" { PromptVia::File } else { PromptVia::Stdin }),
        output: settings.output,
        patterns: OutputPatterns {
            session: settings.session_pattern,
            usage: settings.usage_pattern,
            errors: settings.error_patterns,
        },
        provider: settings.provider,
        version_args: settings.version_args,
        install: settings.install,
        login: settings.login,
    };
    Custom::new(spec, known).map_err(|error| {
        Problem::new(Code::ConfigInvalid, error.to_string())
            .hint(format!("`fleet config show` shows what is set under `agents.{name}`"))
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use fleet_agents::{Brief, Program};
    use fleet_core::problem::Outcome;

    use crate::environment::Environment;
    use crate::{Engine, EngineStart};

    fn engine(dir: &tempfile::TempDir, config: &str) -> Engine {
        std::fs::write(dir.path().join("config.toml"), config).unwrap();
        let environment = Environment::from_pairs([("FLEET_HOME", dir.path()), ("HOME", dir.path())])
            .with_current_directory(dir.path());
        Engine::new(EngineStart { environment, directory: None, flags: Vec::new() }).unwrap()
    }

    fn agents(dir: &tempfile::TempDir, config: &str) -> Outcome<fleet_agents::Registry> {
        engine(dir, config).agents()
    }

    #[test]
    fn a_program_makes_an_agent_and_other_settings_do_not() {
        let dir = tempfile::tempdir().unwrap();
        assert!(agents(&dir, "agents.mine.cap = 3").unwrap().find("mine").is_none());
        let text = "[agents.mine]\nprogram = '~/bin/mine'\nargs = ['run', '--model={model}', '{prompt_file}']\n\
                    prompt = 'file'\nprovider = 'acme'\nargs_sandbox = ['--edit']\ninstall = 'get it'\n";
        let agents = agents(&dir, text).unwrap();
        let mine = agents.find("mine").unwrap();
        let about = mine.about();
        let program = dir.path().join("bin/mine").to_str().unwrap().to_owned();
        assert_eq!(about.program, Program::OnPath(program.into()));
        assert_eq!((&*about.provider, &*about.install), ("acme", "get it"));
        let brief = Brief { model: Some("m"), ..Brief::plain("do it", Path::new("/w")) };
        assert_eq!(mine.plan(&brief).args, ["run", "--model=m", "/w", "--edit"]);
    }

    #[test]
    fn a_wrong_description_is_a_problem_of_the_configuration() {
        let dir = tempfile::tempdir().unwrap();
        for (line, why) in [
            ("args = ['{modle}']", "{modle}"),
            ("output = 'nobody'", "cannot print as `nobody`"),
            ("session_pattern = '('", "not a regular expression"),
            ("prompt = 'file'", "{prompt_file}"),
        ] {
            let engine = engine(&dir, &format!("[agents.mine]\nprogram = 'mine'\n{line}\n"));
            let problem = engine.agents().unwrap_err();
            assert!(
                problem.code.as_str() == "config-invalid" && problem.to_string().contains(why),
                "{problem:?}"
            );
            assert_eq!(engine.check_config().problems, [problem], "`fleet config validate` tells it, too");
        }
    }
}
