//! The git directories of a project, for verbs that look at the work of runs.

use std::path::{Path, PathBuf};

use fleet_core::problem::Outcome;
use fleet_core::project::Project;
use fleet_host::git::{self, StoredSnapshot};

use crate::home::Home;
use crate::keeper::blocking;
use crate::{Engine, problems};

/// The user's repository, where branches are, and the vault, where snapshots and all objects are.
#[derive(Debug, Clone)]
pub(super) struct ProjectGit {
    pub(super) repo: PathBuf,
    pub(super) vault: PathBuf,
}

impl ProjectGit {
    /// Where those of the repository with this common directory are.
    pub(super) fn at(engine: &Engine, common_dir: &str) -> Self {
        Self { repo: PathBuf::from(common_dir), vault: Home::new(engine.home()).vault(common_dir) }
    }

    pub(super) async fn open(engine: &Engine, common_dir: &str) -> Outcome<Self> {
        let found = Self::at(engine, common_dir);
        let Self { repo, vault } = found.clone();
        // Of a repository that is gone, what the vault has is still there.
        let opened = blocking(move || if repo.exists() { git::open_vault(&repo, &vault) } else { Ok(()) });
        opened.await?.map_err(problems::git)?;
        Ok(found)
    }

    /// Those of a project. A repository that was moved is where the user stands.
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
