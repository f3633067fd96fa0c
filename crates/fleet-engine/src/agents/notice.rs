//! The notice that users see once, before an agent first works for them: that it will not ask.
//!
//! Owns when it is shown again: a stamp in the home says up to which trust it was. Must never stand in the way of work:
//! a stamp that cannot be written only means that it is shown once more.

use std::fs;
use std::path::PathBuf;

use fleet_agents::{Adapter, Enforced, Program, Trust};
use fleet_core::problem::Outcome;

use super::{path, trust};
use crate::Engine;
use crate::home::{make_private, write_private};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustNotice {
    pub text: String,
    stamp: PathBuf,
    trust: Trust,
}

impl TrustNotice {
    pub fn mark_shown(&self) {
        if let Some(folder) = self.stamp.parent()
            && make_private(folder).is_ok()
        {
            let _ = write_private(&self.stamp, self.trust.as_str().as_bytes());
        }
    }
}

/// The notice that is due before this agent works. Nothing if it is not here, may change nothing, is a part of codefleet,
/// or if it was shown before and the agent is not trusted more since.
pub fn notice(engine: &Engine, agent: &str) -> Outcome<Option<TrustNotice>> {
    let agents = engine.agents()?;
    let Some(about) = agents.find(agent).map(Adapter::about) else { return Ok(None) };
    let trust = trust(engine.config()?, agent);
    let is_foreign = about.program != Program::This && path(engine, &about.program).is_some();
    if !is_foreign || trust == Trust::ReadOnly {
        return Ok(None);
    }
    let stamp = engine.home().root().join("notices").join(agent);
    let told = fs::read_to_string(&stamp).ok().and_then(|word| Trust::parse(word.trim()));
    if told.is_some_and(|told| told >= trust) {
        return Ok(None);
    }
    let [_, sandbox, full] = about.trust;
    let means = if trust == Trust::Full { full } else { sandbox };
    let text = format!(
        "{title} runs without asking for permission, in its own workspace (shown once)\n  trust `{word}`: {means}; \
         {enforced}\n  `fleet config set agents.{agent}.trust read_only` {least}\n  `fleet agents show {agent}` shows \
         what each trust means",
        title = about.title,
        word = trust.as_str(),
        enforced = match about.enforced(trust) {
            Enforced::Nothing => "nothing enforces this",
            Enforced::Tools => "its own tools enforce this",
            Enforced::Sandbox => "its own sandbox enforces this",
        },
        least = match about.enforced(Trust::ReadOnly) {
            Enforced::Nothing => "asks it to make no changes; nothing enforces this",
            Enforced::Tools | Enforced::Sandbox => "keeps it from changing files",
        },
    );
    Ok(Some(TrustNotice { text, stamp, trust }))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::EngineStart;
    use crate::environment::Environment;

    fn engine(dir: &tempfile::TempDir, config: &str) -> Engine {
        fs::write(dir.path().join("config.toml"), config).unwrap();
        let place = |name| (name, dir.path().as_os_str().to_owned());
        let environment = Environment::from_pairs([place("FLEET_HOME"), place("HOME"), place("PATH")])
            .with_current_directory(dir.path());
        Engine::new(EngineStart { environment, directory: None, flags: Vec::new() }).unwrap()
    }

    #[test]
    fn it_is_told_once_for_each_trust_that_is_higher() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("claude");
        let told = |config: &str| notice(&engine(&dir, config), "claude").unwrap();
        assert_eq!(told(""), None, "it is not here");
        fs::write(&program, "").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(told("agents.claude.trust = 'read_only'"), None);
        let first = told("").unwrap();
        insta::assert_snapshot!(first.text, @r"
        Claude Code runs without asking for permission, in its own workspace (shown once)
          trust `sandbox`: edits files in its workspace with its own tools, and runs any command as you: Claude Code's sandbox is used only if your settings turn it on; nothing enforces this
          `fleet config set agents.claude.trust read_only` keeps it from changing files
          `fleet agents show claude` shows what each trust means
        ");
        assert_eq!(told("").as_ref(), Some(&first), "only what was told is known");
        first.mark_shown();
        assert_eq!(told(""), None);
        let second = told("agents.claude.trust = 'full'").unwrap();
        assert!(second.text.contains("trust `full`: does anything"), "{}", second.text);
        second.mark_shown();
        assert_eq!((told("agents.claude.trust = 'full'"), told("")), (None, None));
    }

    #[test]
    fn what_nothing_enforces_is_not_promised() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("agy");
        fs::write(&program, "").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let told = notice(&engine(&dir, ""), "agy").unwrap().unwrap().text;
        assert!(told.contains("read_only` asks it to make no changes; nothing enforces this"), "{told}");
    }

    #[test]
    fn the_demo_agent_and_strangers_are_not_worth_a_word() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(notice(&engine(&dir, ""), "demo").unwrap(), None);
        assert_eq!(notice(&engine(&dir, ""), "nobody").unwrap(), None);
    }
}
