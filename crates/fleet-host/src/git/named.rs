//! What there is of a branch that a person names for new work.
//!
//! Owns the question whether the name is new, a branch of the user's, or one that only a remote has. Changes nothing.

use std::path::{Path, PathBuf};

use super::command::{Git, oid_of};
use super::error::GitError;
use super::oid::Oid;
use super::publish::place_in_use;
use super::refs;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamedBranch {
    New,
    /// There can be no branch of this name: another one is in the way, or it only points to another one.
    Impossible {
        why: String,
    },
    Existing(ExistingBranch),
    /// Several remotes have it, and the user's configuration prefers none of them.
    Ambiguous {
        /// As people know them: `origin/feature`.
        remotes: Vec<String>,
    },
    /// The name of a remote, then that of a branch there.
    OfRemote {
        remote: String,
        branch: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExistingBranch {
    pub commit: Oid,
    /// The full name of the remote-tracking ref, if there is no local branch.
    pub remote: Option<String>,
    /// The work tree that has it checked out, or will return to it.
    pub in_use: Option<PathBuf>,
    /// Whether the work of the project goes there.
    pub is_main: bool,
}

/// Looks for a branch: among the local ones, then where `git switch` would.
pub fn find_branch(repo: &Path, branch: &str) -> Result<NamedBranch, GitError> {
    let name = refs::full_name(branch)?;
    if let Some(commit) = refs::branch_commit(repo, branch)? {
        if let Some(target) = symbolic_target(repo, &name)? {
            return Ok(NamedBranch::Impossible { why: format!("it is a symbolic ref to {target}") });
        }
        let (in_use, is_main) = (place_in_use(repo, &name)?, is_main(repo, branch)?);
        return Ok(NamedBranch::Existing(ExistingBranch { commit, remote: None, in_use, is_main }));
    }
    if let Some(why) = refs::branch_conflict(repo, branch)? {
        return Ok(NamedBranch::Impossible { why });
    }
    match at_remotes(repo, branch)?.as_slice() {
        [] => of_remote(repo, branch),
        [(remote, commit)] => existing_at(repo, branch, remote, commit),
        several => match preferred(repo, branch, several)? {
            Some((remote, commit)) => existing_at(repo, branch, remote, commit),
            None => Ok(NamedBranch::Ambiguous {
                remotes: several.iter().map(|(remote, _)| short(remote).to_owned()).collect(),
            }),
        },
    }
}

fn existing_at(repo: &Path, branch: &str, remote: &str, commit: &Oid) -> Result<NamedBranch, GitError> {
    let (commit, remote) = (commit.clone(), Some(remote.to_owned()));
    let is_main = is_main(repo, branch)?;
    Ok(NamedBranch::Existing(ExistingBranch { commit, remote, in_use: None, is_main }))
}

/// A remote-tracking ref without what git puts before all of them.
fn short(name: &str) -> &str {
    name.strip_prefix(REMOTES).unwrap_or(name)
}

const REMOTES: &str = "refs/remotes/";

fn symbolic_target(repo: &Path, name: &str) -> Result<Option<String>, GitError> {
    let answer = Git::about(repo).args(["symbolic-ref", "--quiet", name]).answer()?;
    let target = String::from_utf8_lossy(&answer.stdout).trim().to_owned();
    Ok((answer.code == Some(0) && !target.is_empty()).then_some(target))
}

/// The remote-tracking refs of this branch.
fn at_remotes(repo: &Path, branch: &str) -> Result<Vec<(String, Oid)>, GitError> {
    // In a pattern `*` does not stand for `/`; the name of a branch has neither wildcards nor brackets.
    refs::list(repo, &[&format!("{REMOTES}*/{branch}")]).map(|mut found| {
        // A pattern also matches all refs below it.
        found.retain(|(name, _)| short(name).split_once('/').is_some_and(|(_, rest)| rest == branch));
        found
    })
}

/// The one that `git switch` takes if several remotes have the branch.
fn preferred<'a>(
    repo: &Path,
    branch: &str,
    found: &'a [(String, Oid)],
) -> Result<Option<&'a (String, Oid)>, GitError> {
    let answer = Git::about(repo).args(["config", "--get", "checkout.defaultRemote"]).answer()?;
    let wanted = format!("{REMOTES}{}/{branch}", String::from_utf8_lossy(&answer.stdout).trim());
    Ok(found.iter().find(|(name, _)| *name == wanted))
}

/// A name such as `origin/feature`, for which git would make a local branch that looks like one of the remote.
fn of_remote(repo: &Path, branch: &str) -> Result<NamedBranch, GitError> {
    let Some((remote, rest)) = branch.split_once('/') else { return Ok(NamedBranch::New) };
    if refs::exists(repo, &format!("{REMOTES}{branch}"))? {
        return Ok(NamedBranch::OfRemote { remote: remote.to_owned(), branch: rest.to_owned() });
    }
    Ok(NamedBranch::New)
}

/// Whether it is the main branch: by its name, or because the origin says so.
fn is_main(repo: &Path, branch: &str) -> Result<bool, GitError> {
    let of_origin = || symbolic_target(repo, "refs/remotes/origin/HEAD");
    Ok(MAIN.contains(&branch) || of_origin()?.is_some_and(|name| name == format!("{REMOTES}origin/{branch}")))
}

const MAIN: [&str; 2] = ["main", "master"];

/// The main branch that is there, and how many commits another branch has that it has not. `None` without one.
pub fn ahead_of_main(repo: &Path, commit: &Oid) -> Result<Option<(String, u64)>, GitError> {
    for name in MAIN {
        if let Some(main) = refs::branch_commit(repo, name)? {
            return Ok(Some((name.to_owned(), count(repo, &main, commit)?)));
        }
    }
    let Some(name) = symbolic_target(repo, "refs/remotes/origin/HEAD")? else { return Ok(None) };
    let main = Git::about(repo).args(["rev-parse", "--verify", "--quiet", &name]).answer()?;
    if main.code != Some(0) {
        return Ok(None);
    }
    let main = oid_of("rev-parse", &main.stdout)?;
    Ok(Some((short(&name).to_owned(), count(repo, &main, commit)?)))
}

fn count(repo: &Path, from: &Oid, to: &Oid) -> Result<u64, GitError> {
    let range = format!("{from}..{to}");
    let answer = Git::about(repo).args(["rev-list", "--count", &range, "--"]).bytes()?;
    Ok(String::from_utf8_lossy(&answer).trim().parse().unwrap_or(0))
}
