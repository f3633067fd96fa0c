//! What codefleet keeps for a repository in its own home: the vault, a git directory with the snapshots in it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::repo::{Repo, git_at};

/// The one vault of a home.
#[derive(Debug)]
pub struct Vault {
    dir: PathBuf,
}

impl Vault {
    /// `None` until there is one. Panics if there are several.
    #[track_caller]
    pub fn of(home: &Path) -> Option<Self> {
        let entries = fs::read_dir(home.join("vaults")).into_iter().flatten().flatten();
        let is_vault = |path: &PathBuf| path.join("HEAD").exists();
        let mut dirs: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_vault).collect();
        assert!(dirs.len() < 2, "one vault for one repository: {dirs:?}");
        dirs.pop().map(|dir| Self { dir })
    }

    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Our administrative folders of the workspaces.
    pub fn admin_dirs(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.dir.join("worktrees")).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    }

    /// Runs git in it, as [`Repo::git`](crate::repo::Repo::git) does.
    #[track_caller]
    pub fn git(&self, args: &[&str]) -> String {
        git_at(&self.dir, &[&["--git-dir=."], args].concat())
    }
}

/// The names of the snapshots in the vault of a home, in order.
#[track_caller]
pub fn snapshots(home: &Path) -> Vec<String> {
    let list = |vault: Vault| vault.git(&["for-each-ref", "--format=%(refname)", "refs/fleet/snapshots"]);
    Vault::of(home).map_or_else(Vec::new, |vault| list(vault).lines().map(ToOwned::to_owned).collect())
}

/// Demands that codefleet has left nothing in the user's repository but branches and commits that it holds there.
#[track_caller]
pub fn assert_only_branches(repo: &Repo) {
    let refs = repo.git(&["for-each-ref", "--format=%(refname)", "refs/fleet"]);
    let strange = refs.lines().find(|name| !name.starts_with("refs/fleet/held/"));
    assert_eq!(strange, None, "in the user's repository: {refs}");
    let common = repo.git(&["rev-parse", "--path-format=absolute", "--git-common-dir"]);
    let worktrees = Path::new(&common).join("worktrees");
    assert!(!worktrees.exists(), "worktrees in the user's repository");
}
