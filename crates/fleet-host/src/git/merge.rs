//! Merging without a checkout.
//!
//! Owns the questions whether two commits go together and what they change alike, and the commit that joins several.
//! All of it happens among the objects of the repository: must never touch a branch, an index or a file that is in use.
//! Git's next cleanup removes objects that no ref names.

use std::path::Path;

use super::command::Git;
use super::commit;
use super::error::GitError;
use super::evidence::comparison_base;
use super::oid::Oid;
use super::refs::is_ancestor;
use super::vault::{complete, is_vault};
use super::version::version;

/// How many paths are listed. More are counted: who has a thousand conflicts reads how many there are.
const LISTED: usize = 1_000;

/// Since when git can merge without a checkout.
const SINCE: &str = "2.38";

/// Paths, as text; a name that is not UTF-8 is shown as well as it can be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListedPaths {
    /// In git's order, at most a thousand.
    pub listed: Vec<String>,
    pub total: u64,
}

impl ListedPaths {
    fn take(&mut self, path: &[u8]) {
        self.total += 1;
        if self.listed.len() < LISTED {
            self.listed.push(String::from_utf8_lossy(path).into_owned());
        }
    }
}

/// Whether two commits can be merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeCheck {
    Clean {
        /// The merged files.
        tree: Oid,
    },
    Conflicted {
        /// Where. May be empty: a folder that one side renamed and the other filled has no file to show.
        files: ListedPaths,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merge {
    Merged {
        /// The commit that has everything: a new one, or one of those that were given if it has all the others.
        commit: Oid,
    },
    /// One of them does not go with those before it. Nothing visible was made.
    Conflict {
        /// The first that cannot be merged.
        with: Oid,
        files: ListedPaths,
    },
}

/// Merges two commits as `git merge` would, and only returns the result. Histories that share nothing are merged, too:
/// what both have is then new on both sides.
pub fn merge_tree(repo: &Path, ours: &Oid, theirs: &Oid) -> Result<MergeCheck, GitError> {
    let answer = Git::about(repo)
        // There are no files to read them from. Older versions of git do not know the setting, and do without.
        .setting(&format!("attr.tree={ours}"))
        .args(["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages"])
        .args(["--allow-unrelated-histories", ours.as_str(), theirs.as_str()])
        .answer()?;
    let mut records = answer.stdout.split(|byte| *byte == 0).filter(|record| !record.is_empty());
    let tree = records.next().and_then(|record| Oid::parse(&String::from_utf8_lossy(record)).ok());
    match (answer.code, tree) {
        (Some(0), Some(tree)) => Ok(MergeCheck::Clean { tree }),
        (Some(1), Some(_)) => {
            let mut files = ListedPaths::default();
            records.for_each(|path| files.take(path));
            Ok(MergeCheck::Conflicted { files })
        }
        (Some(129), _) => Err(too_old()),
        _ => Err(answer.failure()),
    }
}

/// Joins commits in their order, each with the result of those before it, with `message` for what has to be committed.
/// Hooks and signing are not used, and there is an author even if git knows none. No ref points at the result: a caller
/// that wants to keep it makes a branch.
pub fn merge_commits(repo: &Path, commits: &[Oid], message: &str) -> Result<Merge, GitError> {
    let Some((first, rest)) = commits.split_first() else {
        return Err(GitError::Refused("there is no commit to merge".to_owned()));
    };
    let mut commit = first.clone();
    for next in rest {
        if is_ancestor(repo, next, &commit)? {
            continue;
        }
        if is_ancestor(repo, &commit, next)? {
            commit = next.clone();
            continue;
        }
        let tree = match merge_tree(repo, &commit, next)? {
            MergeCheck::Clean { tree } => tree,
            MergeCheck::Conflicted { files } => return Ok(Merge::Conflict { with: next.clone(), files }),
        };
        if is_vault(repo) {
            complete(repo, Some(&commit), &tree)?;
        }
        let parents = ["-p", commit.as_str(), "-p", next.as_str()];
        commit = commit::commit_as_user(|| {
            Git::about(repo).args(["commit-tree", tree.as_str(), "-m", message]).args(parents)
        })?;
    }
    Ok(Merge::Merged { commit })
}

/// The paths that `head` changed since its history parted from that of `base`. A renamed file counts with both names: a
/// change of either concerns it.
pub fn touched_files(repo: &Path, base: &Oid, head: &Oid) -> Result<ListedPaths, GitError> {
    let from = comparison_base(repo, base, head)?;
    let mut files = ListedPaths::default();
    Git::about(repo)
        .args(["diff-tree", "-r", "-z", "--no-renames", "--name-only", "--ignore-submodules=none"])
        .args([from.as_str(), head.as_str(), "--"])
        .records(&mut |path| {
            files.take(path);
            Ok(())
        })?;
    Ok(files)
}

/// Those of the files in which `commit` has the markers that git leaves at a conflict: a line where one begins, and one where
/// it ends. The line between the two sides is left out, because it also underlines headings.
pub fn with_markers(repo: &Path, commit: &Oid, files: &[String]) -> Result<Vec<String>, GitError> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let answer = Git::about(repo)
        .arg("--literal-pathspecs")
        .args(["grep", "-z", "-I", "-E", "--full-name", "--name-only", "--no-color", "--all-match"])
        .args(["-e", "^<<<<<<< ", "-e", "^>>>>>>> ", commit.as_str(), "--"])
        .args(files)
        .answer()?;
    // Git names the commit before each path.
    let prefix = format!("{commit}:");
    let names =
        answer.stdout.split(|byte| *byte == 0).filter_map(|name| name.strip_prefix(prefix.as_bytes()));
    match answer.code {
        Some(0 | 1) => Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect()),
        _ => Err(answer.failure()),
    }
}

/// Git did not know what was asked.
fn too_old() -> GitError {
    let has = version().unwrap_or_else(|_| "git".to_owned());
    GitError::TooOld { has, needed: SINCE, what: "merging without a checkout" }
}
