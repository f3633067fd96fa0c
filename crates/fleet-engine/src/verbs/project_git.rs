//! The git directories of a project, for verbs that look at the work of runs that ended.

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
    /// Those of the repository with this common directory.
    pub(super) async fn open(engine: &Engine, common_dir: &str) -> Outcome<Self> {
        let (repo, vault) = (PathBuf::from(common_dir), Home::new(engine.home()).vault(common_dir));
        let (user, ours) = (repo.clone(), vault.clone());
        // Of a repository that is gone, what the vault has is still there.
        let opened = blocking(move || if user.exists() { git::open_vault(&user, &ours) } else { Ok(()) });
        opened.await?.map_err(problems::git)?;
        Ok(Self { repo, vault })
    }

    /// Those of a project. A repository that was moved is where the user stands.
    pub(super) async fn of(engine: &Engine, project: &Project) -> Outcome<Self> {
        let is_gone = !Path::new(&project.common_dir).exists();
        let here = engine.common_dir().ok().filter(|_| is_gone);
        Self::open(engine, here.as_ref().unwrap_or(&project.common_dir)).await
    }

    /// The snapshots of all runs.
    pub(super) async fn snapshots(&self) -> Outcome<Vec<StoredSnapshot>> {
        let vault = self.vault.clone();
        blocking(move || git::list_snapshots(&vault, None)).await?.map_err(problems::git)
    }
}
