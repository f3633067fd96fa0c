//! The settings of a runner.
//!
//! Owns when they are read again: whenever one of their files has changed, so that a new budget, cap or agent counts
//! from the next task on. Must never leave a runner without settings: an error is reported once, and the last valid
//! ones stay in force.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use fleet_core::problem::Outcome;

use super::{ActiveRunner, RunnerNotice, configured_slots, configured_terminals};
use crate::Engine;

/// The settings, and the files that they were read from.
pub(super) struct LiveSettings {
    seen: Vec<Option<FileStamp>>,
    /// The engine with the current settings; none while these are the ones that the runner was started with.
    fresh: Option<Engine>,
}

impl LiveSettings {
    /// The settings that an engine is about to read for the first time.
    pub(super) fn of(engine: &Engine) -> Self {
        Self { seen: stamps(engine), fresh: None }
    }

    /// Whether they are new.
    pub(super) fn refresh(&mut self, engine: &Engine) -> Outcome<bool> {
        let seen = stamps(engine);
        if seen == self.seen {
            return Ok(false);
        }
        // First, so that an error is reported only once.
        self.seen = seen;
        let fresh = engine.reloaded();
        fresh.agents()?;
        self.fresh = Some(fresh);
        Ok(true)
    }

    /// The engine with the current settings; `first` has the original ones.
    pub(super) fn engine<'a>(&'a self, first: &'a Engine) -> &'a Engine {
        self.fresh.as_ref().unwrap_or(first)
    }
}

impl ActiveRunner<'_> {
    /// Takes over what was changed in the files. What is wrong there is told, and the last valid settings stay.
    pub(super) fn refresh_settings(&mut self, tell: &mut dyn FnMut(RunnerNotice)) {
        match self.settings.refresh(self.engine) {
            Ok(false) => return,
            Ok(true) => {}
            Err(problem) => {
                return tell(RunnerNotice::Trouble(format!(
                    "the last valid settings stay in force: {problem}"
                )));
            }
        }
        let has_own_slots = self.has_own_slots;
        let Ok(config) = self.settings.engine(self.engine).config() else { return };
        let (slots, terminals) = (configured_slots(config), configured_terminals(config));
        self.registered.update(|runner| {
            runner.terminals = terminals;
            if !has_own_slots {
                runner.slots = slots;
            }
        });
    }
}

/// Differs when a file was written or replaced.
#[derive(Debug, PartialEq, Eq)]
struct FileStamp {
    file: (u64, u64),
    size: u64,
    modified: (i64, i64),
}

fn stamps(engine: &Engine) -> Vec<Option<FileStamp>> {
    let files = [Some(engine.user_config()), engine.project_config().ok()];
    files.into_iter().flatten().map(|file| stamp(file.path())).collect()
}

fn stamp(path: &Path) -> Option<FileStamp> {
    let file = fs::metadata(path).ok()?;
    Some(FileStamp {
        file: (file.dev(), file.ino()),
        size: file.size(),
        modified: (file.mtime(), file.mtime_nsec()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EngineStart;
    use crate::environment::Environment;

    #[test]
    fn what_is_set_counts_at_once_and_what_is_wrong_is_told_once() {
        let dir = tempfile::tempdir().unwrap();
        let place = |name| (name, dir.path().as_os_str().to_owned());
        let environment =
            Environment::from_pairs([place("FLEET_HOME"), place("HOME")]).with_current_directory(dir.path());
        let engine = Engine::new(EngineStart { environment, directory: None, flags: Vec::new() }).unwrap();
        let mut settings = LiveSettings::of(&engine);
        let agent = |settings: &LiveSettings| settings.engine(&engine).config().unwrap().agent().to_owned();
        assert_eq!(agent(&settings), "claude");
        let set = |text: &str| fs::write(dir.path().join("config.toml"), text).unwrap();

        set("agent = 'mine'\n[agents.mine]\nprogram = 'cat'\noutput = 'lines'\n");
        settings.refresh(&engine).unwrap();
        assert_eq!(agent(&settings), "mine");
        assert!(settings.engine(&engine).agents().unwrap().find("mine").is_some());

        set("agent = 7\n");
        assert!(settings.refresh(&engine).is_err());
        assert!(!settings.refresh(&engine).unwrap(), "it is told once");
        assert_eq!(agent(&settings), "mine");

        fs::remove_file(dir.path().join("config.toml")).unwrap();
        settings.refresh(&engine).unwrap();
        assert_eq!(agent(&settings), "claude");
    }
}
