//! Tests of the whole module: files in, settings and messages out.

use std::fs;
use std::path::PathBuf;

use fleet_core::problem::{Outcome, Problem};

use fleet_api::verbs::config_validate::Answer as Report;

use super::{Config, ConfigFile, Sources};
use crate::environment::Environment;

mod agents;
mod documentation;
mod earlier;
mod editing;
mod keys;
mod layers;
mod messages;
mod runs;
mod writing;

/// A folder with a user's file and a project's file, and what else a process is given.
struct World {
    folder: tempfile::TempDir,
    environment: Environment,
    flags: Vec<String>,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder, environment: Environment::from_pairs([("HOME", "/nowhere")]), flags: Vec::new() }
    }

    fn user(self, text: impl AsRef<[u8]>) -> Self {
        fs::write(self.user_file().path(), text).unwrap();
        self
    }

    fn project(self, text: impl AsRef<[u8]>) -> Self {
        fs::write(self.project_file().path(), text).unwrap();
        self
    }

    fn variables(mut self, pairs: &[(&str, &str)]) -> Self {
        self.environment = Environment::from_pairs(pairs.iter().copied());
        self
    }

    fn flags(mut self, flags: &[&str]) -> Self {
        self.flags = flags.iter().map(|&flag| flag.to_owned()).collect();
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn user_file(&self) -> ConfigFile {
        ConfigFile::User(self.path("user.toml"))
    }

    fn project_file(&self) -> ConfigFile {
        ConfigFile::Project(self.path("project.toml"))
    }

    fn text(&self) -> String {
        fs::read_to_string(self.user_file().path()).unwrap()
    }

    fn sources(&self) -> Sources<'_> {
        Sources {
            user_file: self.user_file().path().to_owned(),
            project_file: Some(self.project_file().path().to_owned()),
            environment: &self.environment,
            flags: &self.flags,
        }
    }

    fn load(&self) -> Outcome<Config> {
        Config::load(&self.sources())
    }

    fn validate(&self) -> Report {
        Config::validate(&self.sources())
    }

    /// The message and the hints of a problem, without the folder of this test.
    fn shown(&self, problem: &Problem) -> String {
        let lines: Vec<String> = std::iter::once(format!("{}: {problem}", problem.code))
            .chain(problem.hints.iter().map(|hint| format!("  hint: {hint}")))
            .collect();
        lines.join("\n").replace(self.folder.path().to_str().unwrap(), "/x")
    }

    fn problems(&self) -> String {
        let report = self.validate();
        report.problems.iter().map(|problem| self.shown(problem)).collect::<Vec<_>>().join("\n")
    }
}

/// All settings, as they are shown.
fn views(config: &Config) -> String {
    config.settings().iter().map(|setting| serde_json::to_string(&setting.view()).unwrap()).collect()
}
