//! An engine for tests.

use fleet_testkit::repo::Repo;
use tempfile::TempDir;

use crate::environment::Environment;
use crate::{Engine, Start};

/// An engine with a home and a repository of its own, which end with it.
pub(crate) struct Scratch {
    pub(crate) engine: Engine,
    _folders: (Repo, TempDir),
}

impl Scratch {
    pub(crate) fn new() -> Self {
        let (repo, home) = (Repo::init(), tempfile::tempdir().unwrap());
        let environment = Environment::from_pairs([("FLEET_HOME", home.path())]);
        let start = Start { environment, directory: Some(repo.path().to_owned()), flags: Vec::new() };
        Self { engine: Engine::new(start).unwrap(), _folders: (repo, home) }
    }

    /// Runs a test on it.
    pub(crate) fn run(test: impl AsyncFnOnce(&Engine)) {
        let scratch = Self::new();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(test(&scratch.engine));
    }
}
