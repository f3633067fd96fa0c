//! Whether the user seems to be logged in to an agent.
//!
//! Only a sign: a key may have been revoked, and some systems keep logins in a key store that other programs should not
//! read. So its absence is never called "no".

use fleet_agents::{About, Program};
use fleet_api::verbs::agents_list::{Login, LoginState};
use fleet_core::problem::Outcome;

use crate::Engine;

const fn without_sign(state: LoginState) -> Login {
    Login { state, sign: None }
}

fn by(sign: impl Into<String>) -> Login {
    Login { state: LoginState::Yes, sign: Some(sign.into()) }
}

/// Looks for a sign. Variables that are set for the agent count as well.
pub(crate) fn login(engine: &Engine, agent: &str, about: &About) -> Outcome<Login> {
    if about.program == Program::This {
        return Ok(without_sign(LoginState::NotNeeded));
    }
    if about.login_env.is_empty() && about.login_files.is_empty() {
        return Ok(without_sign(LoginState::Unknown));
    }
    let (environment, set) = (engine.environment(), engine.config()?.variables_for(agent).set);
    let is_set = |name: &str| environment.get_os(name).is_some() || set.contains_key(name);
    if let Some(name) = about.login_env.iter().find(|name| is_set(name)) {
        return Ok(by(*name));
    }
    let place = |file: &&str| match file.split_once(':') {
        Some((variable, rest)) => Some(std::path::Path::new(environment.get_os(variable)?).join(rest)),
        None => Some(environment.user_home().ok()?.join(file)),
    };
    let there = about.login_files.iter().filter_map(place).find(|path| path.is_file());
    Ok(there.map_or(without_sign(LoginState::NoSign), |path| by(path.display().to_string())))
}

#[cfg(test)]
mod tests {
    use fleet_agents::Adapter as _;
    use fleet_agents::demo::Demo;

    use super::*;
    use crate::EngineStart;
    use crate::environment::Environment;

    #[test]
    fn variables_and_files_are_signs() {
        let dir = tempfile::tempdir().unwrap();
        let about = About {
            login_env: &["X_KEY", "X_TOKEN"],
            login_files: &[".x/auth.json", "X_HOME:auth.json"],
            program: Program::OnPath("x".into()),
            ..Demo.about()
        };
        let found = |more: &[(&str, &str)], config: &str| {
            std::fs::write(dir.path().join("config.toml"), config).unwrap();
            let home = dir.path().to_str().unwrap();
            let pairs = [("HOME", home), ("FLEET_HOME", home)].into_iter().chain(more.iter().copied());
            let environment = Environment::from_pairs(pairs).with_current_directory(home);
            let engine =
                Engine::new(EngineStart { environment, directory: None, flags: Vec::new() }).unwrap();
            let Login { state, sign } = login(&engine, "x", &about).unwrap();
            sign.map_or(format!("{state:?}"), |sign| sign.replace(home, "~"))
        };
        assert_eq!(found(&[], ""), "NoSign");
        assert_eq!(found(&[("X_TOKEN", "t")], ""), "X_TOKEN");
        assert_eq!(found(&[("X_TOKEN", "")], ""), "NoSign");
        assert_eq!(found(&[], "agents.x.env.X_KEY = 'k'"), "X_KEY");
        std::fs::create_dir(dir.path().join("elsewhere")).unwrap();
        let elsewhere = dir.path().join("elsewhere");
        std::fs::write(elsewhere.join("auth.json"), "{}").unwrap();
        assert_eq!(found(&[("X_HOME", elsewhere.to_str().unwrap())], ""), "~/elsewhere/auth.json");
        std::fs::create_dir(dir.path().join(".x")).unwrap();
        std::fs::write(dir.path().join(".x/auth.json"), "{}").unwrap();
        assert_eq!(found(&[], ""), "~/.x/auth.json");
        let environment = Environment::from_pairs([("HOME", "/nowhere")]).with_current_directory("/");
        let engine = Engine::new(EngineStart { environment, directory: None, flags: Vec::new() }).unwrap();
        assert_eq!(login(&engine, "demo", &Demo.about()).unwrap().state, LoginState::NotNeeded);
        let about = About { program: Program::OnPath("x".into()), ..Demo.about() };
        assert_eq!(login(&engine, "x", &about).unwrap().state, LoginState::Unknown);
    }
}
