//! Branches and the commits they name.
//!
//! `repo` is always a git directory: the common one, or that of a checkout where `HEAD` is meant.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use fleet_core::refname::{check_ref_name, check_revision};

use super::command::{Answer, Git, oid_of};
use super::error::GitError;
use super::files;
use super::objects;
use super::oid::Oid;

/// Asks git whether it would work in this directory. Later commands name the repository, and git then assumes that the
/// user wants that; standing in it, it refuses what belongs to another user (`safe.directory`) or what is only a folder
/// of another repository (`safe.bareRepository`): their configuration can run programs.
pub fn check_safe(directory: &Path) -> Result<(), GitError> {
    if files::is_ours(directory) {
        return Ok(());
    }
    Git::standing_in(directory).args(["rev-parse", "--git-common-dir"]).run()
}

/// The commit that a person means by `rev`: a branch, a tag, an id, `HEAD~2` and so on.
pub fn resolve_commit(repo: &Path, rev: &str) -> Result<Oid, GitError> {
    check_revision(rev).map_err(|error| GitError::Refused(error.to_string()))?;
    let answer = Git::about(repo)
        .args(["rev-parse", "--verify", "--quiet", "--end-of-options"])
        .arg(format!("{rev}^{{commit}}"))
        .answer()?;
    match answer.code {
        Some(0) => found(answer),
        Some(1) => Err(GitError::NoSuchCommit { rev: rev.to_owned(), repo: repo.to_owned() }),
        // Only its message distinguishes an object that is not a commit from a broken repository.
        _ if answer.stderr.contains("expected commit type") => {
            Err(GitError::NoSuchCommit { rev: rev.to_owned(), repo: repo.to_owned() })
        }
        _ => Err(answer.failure()),
    }
}

pub fn head_commit(repo: &Path) -> Result<Oid, GitError> {
    head(repo)?.ok_or_else(|| GitError::Unborn { repo: repo.to_owned() })
}

/// The current commit, if there is one.
pub(super) fn head(repo: &Path) -> Result<Option<Oid>, GitError> {
    if let Some(tip) = files::head_commit(repo) {
        return Ok(tip.commit());
    }
    maybe(Git::about(repo).args(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).answer()?)
}

/// The first commit of the current commit's history, along first parents; `None` before there is one. Of a shallow clone
/// it is the oldest commit that it has.
pub fn root_commit(repo: &Path) -> Result<Option<Oid>, GitError> {
    let Some(head) = head(repo)? else { return Ok(None) };
    let git = Git::about(repo).args(["rev-list", "--first-parent", "--max-parents=0", head.as_str()]);
    let answer = git.bytes()?;
    let last = answer.split(|byte| *byte == b'\n').rfind(|line| !line.is_empty());
    Ok(last.and_then(|line| Oid::parse(std::str::from_utf8(line).ok()?).ok()))
}

/// Whether a repository certainly has a commit, as its files say. "No" means that [`has_commit`] has to ask git.
pub fn has_commit_at_hand(repo: &Path, commit: &Oid) -> bool {
    objects::is_there(repo, commit)
}

/// Whether a repository has a commit.
pub fn has_commit(repo: &Path, commit: &Oid) -> Result<bool, GitError> {
    if has_commit_at_hand(repo, commit) {
        return Ok(true);
    }
    let answer = Git::about(repo).args(["cat-file", "-e"]).arg(format!("{commit}^{{commit}}")).answer()?;
    Ok(answer.code == Some(0))
}

/// The commit of a branch, or `None` if there is no such branch.
pub fn branch_commit(repo: &Path, branch: &str) -> Result<Option<Oid>, GitError> {
    let name = full_name(branch)?;
    if let Some(tip) = files::commit_of(repo, &name) {
        return Ok(tip.commit());
    }
    maybe(Git::about(repo).args(["rev-parse", "--verify", "--quiet", "--end-of-options", &name]).answer()?)
}

/// What is in the way of a new branch of this name, in words; `None` if the name is free.
///
/// A branch is in the way when it has the name, when its name is a folder above (`feature` for `feature/a`) or below,
/// and, where the file system cannot tell them apart, when only upper and lower case differ.
pub fn branch_conflict(repo: &Path, branch: &str) -> Result<Option<String>, GitError> {
    let wanted = full_name(branch)?;
    let mut git = Git::about(repo).args(["for-each-ref", "--ignore-case", "--format=%(refname)%00", "--"]);
    // A pattern matches the ref itself and all below it.
    let first = branch.split('/').next().unwrap_or(branch);
    git = git.arg(format!("refs/heads/{first}"));
    let (mut clash, mut only_case) = (None, None);
    git.records(&mut |record| {
        let other = String::from_utf8_lossy(record.trim_ascii()).into_owned();
        if clash.is_none() && is_in_the_way(&wanted, &other) {
            clash = Some(other);
        } else if only_case.is_none() && is_in_the_way(&wanted.to_lowercase(), &other.to_lowercase()) {
            only_case = Some(other);
        }
        Ok(())
    })?;
    if clash.is_none() && only_case.is_some() && ignores_case(repo)? {
        clash = only_case;
    }
    Ok(clash.map(|other| explain(&wanted, &other)))
}

fn is_in_the_way(wanted: &str, other: &str) -> bool {
    let below = |longer: &str, shorter: &str| {
        longer.strip_prefix(shorter).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    !other.is_empty() && (below(wanted, other) || below(other, wanted))
}

/// Why an existing branch is in the way.
pub(super) const TAKEN: &str = "it exists already";

fn explain(wanted: &str, other: &str) -> String {
    let short = other.strip_prefix("refs/heads/").unwrap_or(other);
    if wanted == other {
        TAKEN.to_owned()
    } else if wanted.len() == other.len() {
        format!("the branch {short:?} differs only in upper and lower case")
    } else {
        format!("there is a branch {short:?}, and git keeps names as files and folders")
    }
}

fn ignores_case(repo: &Path) -> Result<bool, GitError> {
    let answer = Git::about(repo).args(["config", "--type=bool", "--get", "core.ignoreCase"]).answer()?;
    Ok(answer.stdout.trim_ascii() == b"true")
}

/// Removes a branch, provided that it is still at `expected`. False if it is not, or not there at all. A branch
/// that is checked out somewhere is refused.
pub fn delete_branch(repo: &Path, branch: &str, expected: &Oid) -> Result<bool, GitError> {
    let name = full_name(branch)?;
    if let Some(place) = checked_out_at(repo, branch)? {
        let place = place.display();
        return Err(GitError::Refused(format!(
            "the branch {branch:?} is checked out at {place}; switch to another one there first"
        )));
    }
    if branch_commit(repo, branch)?.as_ref() != Some(expected) {
        return Ok(false);
    }
    let answer =
        Git::about(repo).args(["update-ref", "--no-deref", "-d", &name, expected.as_str()]).answer()?;
    if answer.code == Some(0) {
        return Ok(true);
    }
    // Moved in between, or something worse.
    if branch_commit(repo, branch)?.as_ref() == Some(expected) { Err(answer.failure()) } else { Ok(false) }
}

pub fn checked_out_at(repo: &Path, branch: &str) -> Result<Option<PathBuf>, GitError> {
    let name = full_name(branch)?;
    if files::is_checked_out_nowhere(repo, &name) {
        return Ok(None);
    }
    let git = Git::about(repo).args(["for-each-ref", "--format=%(worktreepath)", "--", &name]);
    let answer = git.bytes()?;
    let path = answer.strip_suffix(b"\n").unwrap_or(&answer);
    Ok((!path.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(path))))
}

/// Whether two commits have one in common among those before them. Without one, `git merge` refuses.
pub fn share_history(repo: &Path, one: &Oid, other: &Oid) -> Result<bool, GitError> {
    yes_or_no(Git::about(repo).args(["merge-base", one.as_str(), other.as_str()]).answer()?)
}

/// Whether everything in `older` is also in `newer`.
pub fn is_ancestor(repo: &Path, older: &Oid, newer: &Oid) -> Result<bool, GitError> {
    yes_or_no(
        Git::about(repo).args(["merge-base", "--is-ancestor", older.as_str(), newer.as_str()]).answer()?,
    )
}

/// As git answers a question with its exit status.
fn yes_or_no(answer: Answer) -> Result<bool, GitError> {
    match answer.code {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        _ => Err(answer.failure()),
    }
}

pub(super) fn tree_of(repo: &Path, commit: &Oid) -> Result<Oid, GitError> {
    Git::about(repo).args(["rev-parse", "--verify", "--quiet", &format!("{commit}^{{tree}}")]).oid()
}

/// The refs with these beginnings, or all of them, and what each is at.
pub(super) fn list(repo: &Path, folders: &[&str]) -> Result<Vec<(String, Oid)>, GitError> {
    let mut refs = Vec::new();
    let format = "--format=%(objectname) %(refname)%00";
    Git::about(repo).args(["for-each-ref", format, "--"]).args(folders).records(&mut |record| {
        let line = String::from_utf8_lossy(record).trim().to_owned();
        let parsed =
            line.split_once(' ').and_then(|(oid, name)| Some((name.to_owned(), Oid::parse(oid).ok()?)));
        refs.extend(parsed);
        Ok(())
    })?;
    Ok(refs)
}

pub(super) fn exists(repo: &Path, name: &str) -> Result<bool, GitError> {
    let asked = Git::about(repo).args(["rev-parse", "--verify", "--quiet", "--end-of-options", name]);
    maybe(asked.answer()?).map(|found| found.is_some())
}

/// The full name of a branch that passes git's rules.
pub(super) fn full_name(branch: &str) -> Result<String, GitError> {
    check_ref_name(branch).map_err(|error| GitError::Refused(error.to_string()))?;
    Ok(format!("refs/heads/{branch}"))
}

/// The object of a quiet query, where exit code 1 means that there is none.
fn maybe(answer: Answer) -> Result<Option<Oid>, GitError> {
    if answer.code == Some(1) { Ok(None) } else { found(answer).map(Some) }
}

fn found(answer: Answer) -> Result<Oid, GitError> {
    let command = answer.command.clone();
    oid_of(&command, &answer.succeeded()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_and_equals_are_in_the_way_and_siblings_are_not() {
        let way = |other| is_in_the_way("refs/heads/feature/a", other);
        assert!(way("refs/heads/feature/a"));
        assert!(way("refs/heads/feature"));
        assert!(way("refs/heads/feature/a/b"));
        assert!(!way("refs/heads/feature/ab"));
        assert!(!way("refs/heads/feature-a"));
        assert!(!way("refs/heads/feat"));
    }
}
