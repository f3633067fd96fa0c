//! Objects of an agent on their way into the vault.

use std::collections::BTreeSet;
use std::fs;

use super::collect::OtherWork;
use super::{Workspace, sparse};
use crate::git::alternates;
use crate::git::capture::{ScratchFile, forget_excluded};
use crate::git::command::Git;
use crate::git::error::GitError;
use crate::git::foreign::{ForeignError, ForeignGitDir, Staged, Take, TakeError, take};
use crate::git::oid::Oid;

/// Objects of one agent on their way into the vault.
pub(super) struct ObjectTransfer<'a> {
    workspace: &'a Workspace,
    foreign: &'a ForeignGitDir,
    known: Vec<Oid>,
    /// Its object files, once they are needed.
    staged: Option<Staged>,
}

impl<'a> ObjectTransfer<'a> {
    /// From a repository to the vault, which has the known commits.
    pub(super) fn new(workspace: &'a Workspace, foreign: &'a ForeignGitDir, known: Vec<Oid>) -> Self {
        Self { workspace, foreign, known, staged: None }
    }

    fn staged(&mut self) -> Result<&Staged, ForeignError> {
        let staged = match self.staged.take() {
            Some(staged) => staged,
            None => self.foreign.stage(&self.workspace.vault.dir)?,
        };
        Ok(self.staged.insert(staged))
    }

    /// Takes what these reach. The inner error says why the agent's objects are refused.
    pub(super) fn take(&mut self, tips: &[Oid]) -> Result<Result<(), String>, ForeignError> {
        let tips: BTreeSet<&Oid> = tips.iter().filter(|tip| !self.known.contains(tip)).collect();
        let tips: Vec<Oid> = tips.into_iter().cloned().collect();
        if tips.is_empty() {
            return Ok(Ok(()));
        }
        let (vault, known) = (self.workspace.vault.dir.clone(), self.known.clone());
        let staged = self.staged()?;
        match take(&vault, &Take { staged: Some(staged), tips: &tips, known: &known }) {
            Ok(()) => {
                self.known.extend(tips);
                Ok(Ok(()))
            }
            Err(TakeError::Refused { why }) => Ok(Err(self.explained(why))),
            Err(TakeError::Git(error)) => Err(error.into()),
        }
    }

    /// A refusal, with its likely reason. What was shallow from the beginning is known to us as well.
    fn explained(&self, why: String) -> String {
        let given = self.workspace.vault.dir.join("shallow");
        let given = fs::read_to_string(given).unwrap_or_default();
        let is_new = |commit: &Oid| !given.lines().any(|line| line == commit.as_str());
        if !self.foreign.shallow().is_ok_and(|shallow| shallow.iter().any(is_new)) {
            return why;
        }
        format!(
            "it has a shallow fetch, whose commits lack their parents (`git fetch --unshallow` gets them): {why}"
        )
    }

    /// Takes all of them, or those that can be taken.
    pub(super) fn take_each(
        &mut self,
        others: Vec<OtherWork>,
        unread: &mut Option<String>,
    ) -> Result<Vec<OtherWork>, ForeignError> {
        let all: Vec<Oid> = others.iter().map(|other| other.commit.clone()).collect();
        if self.take(&all)?.is_ok() {
            return Ok(self.commits(others, unread)?);
        }
        let mut taken = Vec::new();
        for other in others {
            match self.take(std::slice::from_ref(&other.commit))? {
                Ok(()) => taken.push(other),
                Err(why) => *unread = Some(why),
            }
        }
        Ok(self.commits(taken, unread)?)
    }

    /// The commits behind these: a tag has its own name, and may be one of a file.
    fn commits(
        &self,
        others: Vec<OtherWork>,
        unread: &mut Option<String>,
    ) -> Result<Vec<OtherWork>, GitError> {
        if others.is_empty() {
            return Ok(others);
        }
        let vault = &self.workspace.vault.dir;
        let lines: String = others.iter().flat_map(|other| [other.commit.as_str(), "^{commit}\n"]).collect();
        let (_file, input) = ScratchFile::new(vault, "others").with(lines.as_bytes())?;
        let git = Git::about(vault).args(["cat-file", "--batch-check=%(objectname)"]).stdin(input);
        let answer = git.bytes()?;
        let answer = String::from_utf8_lossy(&answer);
        let mut found = Vec::new();
        for (other, line) in others.into_iter().zip(answer.lines()) {
            match Oid::parse(line) {
                Ok(commit) => found.push(OtherWork { commit, ..other }),
                Err(_) => *unread = Some(format!("{} is not a commit", other.what)),
            }
        }
        Ok(found)
    }

    /// What the agent has staged, if its index is not the one that it was given.
    pub(super) fn index(
        &mut self,
        head: &Oid,
        unread: &mut Option<String>,
    ) -> Result<Option<Oid>, ForeignError> {
        let workspace = self.workspace;
        if workspace.index.is_some() && workspace.index == workspace.agent_index() {
            return Ok(None);
        }
        let Some(index) = self.copied_index(self.foreign, head, unread)? else { return Ok(None) };
        sparse::follow(&workspace.checkout, &index.file)?;
        self.write(&index, head, unread)
    }

    /// What is staged in a worktree of the repository.
    pub(super) fn index_of(
        &mut self,
        worktree: &ForeignGitDir,
        head: &Oid,
        unread: &mut Option<String>,
    ) -> Result<Option<Oid>, ForeignError> {
        match self.copied_index(worktree, head, unread)? {
            Some(index) => self.write(&index, head, unread),
            None => Ok(None),
        }
    }

    /// A copy of an index that git can read.
    fn copied_index(
        &self,
        foreign: &ForeignGitDir,
        head: &Oid,
        unread: &mut Option<String>,
    ) -> Result<Option<CopiedIndex>, ForeignError> {
        let file = ScratchFile::new(&self.workspace.checkout.git_dir, "staged");
        if foreign.copy_index(&file)?.is_none() {
            return Ok(None);
        }
        let Some(is_same) = self.is_same(&file, head)? else {
            *unread = Some("its index cannot be read".to_owned());
            return Ok(None);
        };
        Ok(Some(CopiedIndex { file, is_same }))
    }

    /// Whether an index has what a commit has; `None` if it cannot be read.
    fn is_same(&self, index: &ScratchFile, head: &Oid) -> Result<Option<bool>, GitError> {
        let same = ["diff-index", "--cached", "--quiet", "--ignore-submodules=all", head.as_str(), "--"];
        match self.git(index).args(same).answer() {
            Err(GitError::TimedOut { .. }) => Ok(None),
            answer => Ok(match answer?.code {
                Some(0) => Some(true),
                Some(1) => Some(false),
                _ => None,
            }),
        }
    }

    fn git(&self, index: &ScratchFile) -> Git {
        Git::within(&self.workspace.checkout).index(index.path())
    }

    /// The tree of an index, taken, if it is not what `head` has.
    fn write(
        &mut self,
        CopiedIndex { file, is_same }: &CopiedIndex,
        head: &Oid,
        unread: &mut Option<String>,
    ) -> Result<Option<Oid>, ForeignError> {
        if *is_same {
            return Ok(None);
        }
        let workspace = self.workspace;
        if !workspace.claim.private.is_empty() {
            forget_excluded(&workspace.checkout, file, &workspace.claim.private)?;
            if self.is_same(file, head)? == Some(true) {
                return Ok(None);
            }
        }
        let borrowed = alternates::quoted(self.staged()?.dir());
        let git = self.git(file).env("GIT_ALTERNATE_OBJECT_DIRECTORIES", borrowed);
        let answer = git.arg("write-tree").answer()?;
        // Conflicts cannot be written, but their sides are in the commits that are merged.
        if answer.code != Some(0) {
            return Ok(None);
        }
        let tree = answer.oid()?;
        match self.take(std::slice::from_ref(&tree))? {
            Ok(()) => Ok(Some(tree)),
            Err(why) => {
                *unread = Some(why);
                Ok(None)
            }
        }
    }
}

/// A copy of an index of the agent's.
struct CopiedIndex {
    file: ScratchFile,
    /// Whether it has what `HEAD` has.
    is_same: bool,
}
