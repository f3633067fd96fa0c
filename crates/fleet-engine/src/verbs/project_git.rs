//! The git directories of a project, for verbs that look at the work of runs.

use std::path::{Path, PathBuf};

use fleet_core::project::Project;
use fleet_host::git::{self, StoredSnapshot};

use super::prelude::*;

/// The user's repository, where branches are, and the vault, where snapshots and all objects are.
#[derive(Debug, Clone)]
pub(super) struct ProjectGit {
    pub(super) repo: PathBuf,
    pub(super) vault: PathBuf,
}

impl ProjectGit {
    /// The directories of the repository with this common directory.
    pub(super) fn at(engine: &Engine, common_dir: &str) -> Self {
        Self { repo: PathBuf::from(common_dir), vault: engine.home().vault(common_dir) }
    }

    pub(super) async fn open(engine: &Engine, common_dir: &str) -> Outcome<Self> {
        let found = Self::at(engine, common_dir);
        let Self { repo, vault } = found.clone();
        // The vault outlives a repository that is gone.
        let opened = blocking(move || if repo.exists() { git::open_vault(&repo, &vault) } else { Ok(()) });
        opened.await?.map_err(problems::git)?;
        Ok(found)
    }

    /// The directories of a project. A repository that was moved is the current directory's.
    pub(super) async fn of(engine: &Engine, project: &Project) -> Outcome<Self> {
        let is_gone = !Path::new(&project.common_dir).exists();
        let here = engine.common_dir().ok().filter(|_| is_gone);
        Self::open(engine, here.as_ref().unwrap_or(&project.common_dir)).await
    }

    pub(super) async fn snapshots(&self) -> Outcome<Vec<StoredSnapshot>> {
        let vault = self.vault.clone();
        blocking(move || git::list_snapshots(&vault, None)).await?.map_err(problems::git)
    }
}
