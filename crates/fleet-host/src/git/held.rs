//! Commits of the user's repository that we borrow, held by refs so that git does not collect them.
//!
//! Owns `refs/fleet/held/<vault id>/<commit>`: several homes may know the same repository, and each gives up only what it
//! held itself. Must never remove such a ref that names something else, and leaves no other file in the user's repository.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::capture::ScratchFile;
use super::command::Git;
use super::error::GitError;
use super::files::{self, Tip};
use super::loose;
use super::objects;
use super::oid::Oid;
use super::random;
use super::retries::LockRetries;

/// Where the refs of all vaults are.
pub(super) const PREFIX: &str = "refs/fleet/held/";

/// The file of a vault that has its id, and the length of an id.
pub(super) const ID_FILE: &str = "id";
const ID_DIGITS: usize = 12;

/// The commits that one vault holds in the user's repository.
#[derive(Debug, Clone)]
pub struct Holds {
    repo: PathBuf,
    vault: PathBuf,
    /// Where the refs are, with a slash at the end.
    folder: String,
}

impl Holds {
    /// Those of the vault in the folder `vault`, in the user's repository `repo`.
    pub fn of(repo: &Path, vault: &Path) -> Result<Self, GitError> {
        let Some(id) = vault_id(vault) else {
            return Err(GitError::Refused(format!("{} has no id", vault.join(ID_FILE).display())));
        };
        Ok(Self::under(repo, vault, &id))
    }

    pub(super) fn under(repo: &Path, vault: &Path, id: &str) -> Self {
        Self { repo: repo.to_owned(), vault: vault.to_owned(), folder: format!("{PREFIX}{id}/") }
    }

    /// Keeps a commit, and all that it reaches, in the user's repository.
    ///
    /// The commit should be reachable from one of the user's refs, as a base is. One that is not may be in the middle
    /// of being pruned: what is gone by the time that the ref is there is an error, but what a running `git prune`
    /// removes later is not noticed.
    pub fn add(&self, commit: &Oid) -> Result<(), GitError> {
        let name = self.ref_name(commit);
        if files::commit_of(&self.repo, &name) == Some(Tip::At(commit.clone())) {
            return Ok(());
        }
        if loose::create(&self.repo, &name, commit).is_none() {
            self.create(&name, commit)?;
        }
        if self.has_commit(commit)? {
            return Ok(());
        }
        self.give_up(&BTreeSet::from([commit.clone()]))?;
        Err(self.no_such(commit))
    }

    pub fn all(&self) -> Result<BTreeSet<Oid>, GitError> {
        let mut all = BTreeSet::new();
        let format = "--format=%(refname)%00%(objectname)%00";
        let mut name = None;
        self.git().args(["for-each-ref", format, "--", &self.folder]).records(&mut |record| {
            let text = String::from_utf8_lossy(record.trim_ascii()).into_owned();
            match name.take() {
                None => name = Some(text),
                Some(name) => {
                    all.extend(Oid::parse(&text).ok().filter(|commit| self.ref_name(commit) == name));
                }
            }
            Ok(())
        })?;
        Ok(all)
    }

    /// Gives up held commits. A ref that is not at the commit of its name stays.
    pub fn give_up(&self, commits: &BTreeSet<Oid>) -> Result<(), GitError> {
        let mut left = commits.clone();
        let mut retries = LockRetries::in_git_dir(&self.repo);
        while !left.is_empty() {
            left = &left & &self.all()?;
            match self.delete(&left) {
                Err(error) => retries.pause_after(error)?,
                done => return done,
            }
        }
        Ok(())
    }

    fn ref_name(&self, commit: &Oid) -> String {
        format!("{}{commit}", self.folder)
    }

    /// Makes the ref with git, which waits for locks a little; we wait longer.
    fn create(&self, name: &str, commit: &Oid) -> Result<(), GitError> {
        let mut retries = LockRetries::in_git_dir(&self.repo);
        loop {
            // Without an old value: anyone who held it in between wanted the same.
            match self.git().args(["update-ref", "--no-deref", name, commit.as_str()]).run() {
                Err(GitError::Failed { .. }) if !self.has_commit(commit)? => {
                    return Err(self.no_such(commit));
                }
                Err(error) => retries.pause_after(error)?,
                done => return done,
            }
        }
    }

    fn delete(&self, commits: &BTreeSet<Oid>) -> Result<(), GitError> {
        if commits.is_empty() {
            return Ok(());
        }
        let line = |commit: &Oid| format!("delete {} {commit}\n", self.ref_name(commit));
        let lines: String = commits.iter().map(line).collect();
        let (_file, stdin) = ScratchFile::new(&self.vault, "give-up").with(lines.as_bytes())?;
        self.git().args(["update-ref", "--no-deref", "--stdin"]).stdin(stdin).run()
    }

    fn has_commit(&self, commit: &Oid) -> Result<bool, GitError> {
        if objects::is_there(&self.repo, commit) {
            return Ok(true);
        }
        let answer = self.git().args(["cat-file", "-e", &format!("{commit}^{{commit}}")]).answer()?;
        Ok(answer.code == Some(0))
    }

    fn no_such(&self, commit: &Oid) -> GitError {
        GitError::NoSuchCommit { rev: commit.to_string(), repo: self.repo.clone() }
    }

    fn git(&self) -> Git {
        Git::about(&self.repo)
    }
}

/// The id of a vault, if it has one.
pub(super) fn vault_id(vault: &Path) -> Option<String> {
    let text = fs::read_to_string(vault.join(ID_FILE)).ok()?;
    let id = text.trim_end();
    let is_id = id.len() == ID_DIGITS && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_id.then(|| id.to_owned())
}

/// An id that no other vault has.
pub(super) fn new_id() -> Result<String, GitError> {
    random::hex(ID_DIGITS)
}
