//! Being inside of a workspace: which project it belongs to, and where its agent is.
//!
//! The `.git` there is the agent's, so neither may be asked of git.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use fleet_core::refname::check_ref_name;

use super::register;
use crate::git::checkout::Checkout;
use crate::git::error::GitError;
use crate::git::foreign::ForeignGitDir;
use crate::git::oid::Oid;
use crate::git::refs;
use crate::git::vault::{self, Vault};

/// How often published commits are looked for.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// The keeper publishes what an agent commits within about a second; a slow machine needs longer.
const POLLS: usize = 100;

/// The workspace that a directory is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surrounding {
    /// The user's repository, its git common directory.
    pub repo: PathBuf,
    /// The files of the workspace, with our own index and `HEAD`.
    pub checkout: Checkout,
}

/// The workspace below the folder `areas` that a canonical path is in, if a vault in the folder `vaults` knows it.
pub fn surrounding(areas: &Path, vaults: &Path, path: &Path) -> Option<Surrounding> {
    let areas = fs::canonicalize(areas).ok()?;
    let mut names = path.strip_prefix(&areas).ok()?.components();
    let work_tree = areas.join(names.next()?).join(names.next()?);
    fs::read_dir(vaults).ok()?.flatten().find_map(|entry| {
        let dir = entry.path();
        let vault = Vault { repo: vault::noted_repo(&dir)?, dir };
        let checkout = register::checkout(&vault, &work_tree);
        checkout.git_dir.is_dir().then_some(Surrounding { repo: vault.repo, checkout })
    })
}

impl Surrounding {
    /// The commit that the agent has checked out, as soon as the user's repository has it.
    pub fn head(&self) -> Result<Oid, GitError> {
        let Some(head) = self.agent_head() else { return refs::head_commit(&self.checkout.git_dir) };
        for _ in 0..POLLS {
            if self.has_commit(&head)? {
                return Ok(head);
            }
            thread::sleep(POLL_INTERVAL);
        }
        Err(not_published(&head))
    }

    /// The commit that a name stands for in the workspace: names are the agent's own if it has them. What only the log
    /// of a ref or the files of a git directory can tell is refused, because git would ask the user's.
    pub fn resolve(&self, rev: &str) -> Result<Oid, GitError> {
        let (name, suffix) = rev.split_at(rev.find(['~', '^', ':']).unwrap_or(rev.len()));
        let start = match name {
            "HEAD" | "@" => self.head()?,
            _ => self.named(name)?,
        };
        if suffix.is_empty() {
            Ok(start)
        } else {
            refs::resolve_commit(&self.repo, &format!("{start}{suffix}"))
        }
    }

    /// The commit of a branch, a tag or an id.
    fn named(&self, name: &str) -> Result<Oid, GitError> {
        if let Some(oid) = self.agents_ref(name) {
            // It is on its way if it is checked out; what else the agent made for itself does not get there.
            return if self.agent_head().as_ref() == Some(&oid) { self.head() } else { self.in_repo(&oid) };
        }
        if is_id(name) {
            return refs::resolve_commit(&self.repo, name);
        }
        // Branches of other runs are newer than the agent's repository.
        for full in full_names(name).filter(|full| check_ref_name(full).is_ok()) {
            match refs::resolve_commit(&self.repo, &full) {
                Err(GitError::NoSuchCommit { .. }) => {}
                answer => return answer,
            }
        }
        Err(GitError::NoSuchCommit { rev: name.to_owned(), repo: self.repo.clone() })
    }

    fn agents_ref(&self, name: &str) -> Option<Oid> {
        let refs = ForeignGitDir::of(&self.checkout.work_tree).ok()?.refs().ok()?;
        full_names(name).find_map(|full| refs.named.get(&full).cloned())
    }

    fn in_repo(&self, oid: &Oid) -> Result<Oid, GitError> {
        refs::resolve_commit(&self.repo, oid.as_str()).map_err(|error| match error {
            GitError::NoSuchCommit { .. } => not_published(oid),
            error => error,
        })
    }

    fn has_commit(&self, commit: &Oid) -> Result<bool, GitError> {
        match refs::resolve_commit(&self.repo, commit.as_str()) {
            Ok(_) => Ok(true),
            Err(GitError::NoSuchCommit { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Read as data; `None` if the agent's repository is unreadable.
    fn agent_head(&self) -> Option<Oid> {
        let foreign = ForeignGitDir::of(&self.checkout.work_tree).ok()?;
        let (head, refs) = (foreign.head().ok()?, foreign.refs().ok()?);
        foreign.commit(&refs, &head)
    }
}

fn not_published(commit: &Oid) -> GitError {
    GitError::Refused(format!("commit {commit} is not on the branch of this run"))
}

/// The refs that a name may mean, in git's order.
fn full_names(name: &str) -> impl Iterator<Item = String> {
    let is_full = name.starts_with("refs/");
    let kinds: &[&str] =
        if is_full { &[""] } else { &["refs/", "refs/tags/", "refs/heads/", "refs/remotes/"] };
    kinds.iter().map(move |kind| format!("{kind}{name}"))
}

fn is_id(name: &str) -> bool {
    (4..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}
