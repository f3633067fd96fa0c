//! A clone for a person: the files of a branch whose workspace is back in the pool.
//!
//! It depends on nothing: objects are linked or copied, so that whatever is removed or pruned elsewhere, it stays whole.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::command::Git;
use super::error::GitError;
use super::oid::Oid;
use super::temporary::Temporary;

/// A large tree takes long to write.
const GIT_TIMEOUT: Duration = Duration::from_hours(1);

/// Clones `repo` to `dir`, which must not exist, with this branch at this commit checked out. `dir` is there only when it
/// is complete.
pub fn clone_for_person(repo: &Path, (branch, at): (&str, &Oid), dir: &Path) -> Result<(), GitError> {
    let parent = dir.parent().unwrap_or(dir);
    fs::create_dir_all(parent).map_err(GitError::io(parent))?;
    let temporary = Temporary::new(parent, "clone")?;
    let new = temporary.path().join("clone");
    Git::about(repo)
        .with_transports()
        .patience(GIT_TIMEOUT)
        .args(["clone", "--quiet", "--local", "--no-checkout", "--template=", "--"])
        .args([repo, &new])
        .run()?;
    Git::standing_in(&new)
        .with_filters()
        .patience(GIT_TIMEOUT)
        .args(["checkout", "--quiet", "--no-track", "-B", branch, at.as_str(), "--"])
        .run()?;
    fs::rename(&new, dir).map_err(GitError::io(dir))
}

#[cfg(test)]
mod tests {
    use fleet_testkit::repo::Repo;

    use super::*;
    use crate::git::refs::branch_commit;

    #[test]
    fn a_clone_has_the_files_and_commits_of_a_branch_and_survives_it() {
        let repo = Repo::init();
        repo.git(&["switch", "--quiet", "-c", "work"]);
        repo.write("a.txt", "work\n");
        repo.commit("work");
        repo.git(&["switch", "--quiet", "main"]);
        let git_dir = repo.path().join(".git");
        let tip = branch_commit(&git_dir, "work").unwrap().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let clone = dir.path().join("runs").join("clone");
        clone_for_person(&git_dir, ("work", &tip), &clone).unwrap();
        repo.git(&["branch", "--quiet", "-D", "work"]);
        repo.git(&["reflog", "expire", "--expire=now", "--all"]);
        repo.git(&["gc", "--quiet", "--prune=now"]);
        assert_eq!(fs::read_to_string(clone.join("a.txt")).unwrap(), "work\n");
        assert_eq!(branch_commit(&clone.join(".git"), "work").unwrap(), Some(tip.clone()));
        Git::standing_in(&clone).args(["fsck", "--strict"]).run().unwrap();
        let left: Vec<_> = fs::read_dir(clone.parent().unwrap()).unwrap().collect();
        assert_eq!(left.len(), 1, "nothing temporary stays");
        assert!(clone_for_person(&git_dir, ("work", &tip), &dir.path().join("other")).is_err(), "it is gone");
        assert!(!dir.path().join("other").exists());
    }
}
