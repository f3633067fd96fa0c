//! Snapshots that were taken before: listing them, making a branch of one, dropping them.

use std::fs;
use std::path::Path;

use super::kept::hold_beginnings;
use super::message::MessageFacts;
use super::{folder, is_ours};
use crate::git::capture::ScratchFile;
use crate::git::command::Git;
use crate::git::error::GitError;
use crate::git::files::{self, PackedName};
use crate::git::gitdir::is_absence;
use crate::git::oid::Oid;
use crate::git::publish::{Compression, NotPublished, Publish, Published, publish};
use crate::git::refs;
use crate::git::refused_files::check_snapshot;
use crate::git::vault::{Vault, is_vault, put_lost_refs_aside};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSnapshot {
    pub ref_name: String,
    pub run: String,
    /// Its number within the run, from one.
    pub number: u64,
    pub commit: Oid,
    /// The tree of the whole work tree.
    pub tree: Oid,
    /// `HEAD` at that time; `None` before a first commit.
    pub head: Option<Oid>,
    pub why: String,
    /// In seconds since 1970.
    pub at_seconds: i64,
    /// Whether it holds more than its tree: something staged that is nowhere else, or insides of nested repositories.
    pub has_more: bool,
}

/// The snapshots of a run, or of all, by run and number. Refs in the same place that are no snapshots are left out.
pub fn list_snapshots(repo: &Path, run: Option<&str>) -> Result<Vec<StoredSnapshot>, GitError> {
    if !repo.join("HEAD").exists() {
        return Ok(Vec::new());
    }
    let mut all: Vec<_> = read(repo, run)?.into_iter().map(ReadSnapshot::into_stored).collect();
    all.sort_by(|a, b| (&a.run, a.number).cmp(&(&b.run, b.number)));
    Ok(all)
}

/// Makes a branch in the user's repository from a snapshot in the vault. Its name must be free. Files that git refuses do
/// not get there by this way either.
pub fn restore_branch((repo, vault): (&Path, &Path), snapshot: &Oid, branch: &str) -> Result<(), GitError> {
    if let Some(why) = refs::branch_conflict(repo, branch)? {
        return Err(GitError::BranchTaken { branch: branch.to_owned(), why });
    }
    check_snapshot(vault, snapshot, &parents(vault, snapshot)?)?;
    let known = hold_beginnings(&Vault::of(repo, vault)?, std::slice::from_ref(snapshot))?;
    let compression = Compression::Quick;
    let wanted =
        Publish { repo, vault, branch, commit: snapshot, expected: None, known: &known, compression };
    match publish(&wanted)? {
        Published::Done => Ok(()),
        Published::Kept(NotPublished::NameTaken { why }) => {
            Err(GitError::BranchTaken { branch: branch.to_owned(), why })
        }
        Published::Kept(other) => Err(GitError::Refused(other.to_string())),
    }
}

/// What a commit was made on: `HEAD` first, in the case of a snapshot.
fn parents(vault: &Path, commit: &Oid) -> Result<Vec<Oid>, GitError> {
    let answer = Git::about(vault).args(["rev-parse", &format!("{commit}^@")]).bytes()?;
    Ok(String::from_utf8_lossy(&answer).lines().filter_map(|line| Oid::parse(line).ok()).collect())
}

/// Drops snapshots. One that has changed since it was listed stays, and all the others with it.
pub fn drop_snapshots(repo: &Path, snapshots: &[StoredSnapshot]) -> Result<(), GitError> {
    let mut commands = Vec::new();
    for snapshot in snapshots {
        if !is_ours(&snapshot.ref_name) {
            return Err(GitError::Refused(format!("{:?} is not the ref of a snapshot", snapshot.ref_name)));
        }
        commands.extend(format!("delete {}\0{}\0", snapshot.ref_name, snapshot.commit).into_bytes());
    }
    if commands.is_empty() {
        return Ok(());
    }
    let input = ScratchFile::input(&commands)?;
    Git::about(repo).args(["update-ref", "--no-deref", "--stdin", "-z"]).stdin(input).run()
}

#[derive(Debug)]
pub(super) struct ReadSnapshot {
    pub(super) ref_name: String,
    pub(super) number: u64,
    pub(super) commit: Oid,
    pub(super) tree: Oid,
    pub(super) facts: MessageFacts,
}

impl ReadSnapshot {
    fn parse(fields: &[String]) -> Option<Self> {
        let [ref_name, commit, tree, message] = fields else { return None };
        Some(Self {
            ref_name: ref_name.trim().to_owned(),
            number: ref_name.rsplit_once('/')?.1.parse().ok()?,
            commit: Oid::parse(commit).ok()?,
            tree: Oid::parse(tree).ok()?,
            facts: MessageFacts::parse(message)?,
        })
    }

    fn into_stored(self) -> StoredSnapshot {
        StoredSnapshot {
            ref_name: self.ref_name,
            run: self.facts.run,
            number: self.number,
            commit: self.commit,
            tree: self.tree,
            head: self.facts.head,
            why: self.facts.why,
            at_seconds: self.facts.at_seconds,
            has_more: self.facts.staged.is_some() || self.facts.nested.is_some(),
        }
    }
}

/// The last snapshot of a run.
pub(super) fn last(repo: &Path, run: &str) -> Result<Option<ReadSnapshot>, GitError> {
    if has_none(repo, &folder(Some(run))?) {
        return Ok(None);
    }
    Ok(read(repo, Some(run))?.into_iter().max_by_key(|read| read.number))
}

/// Whether there is certainly no ref in this folder; false if only git can tell.
fn has_none(repo: &Path, folder: &str) -> bool {
    let Some(common_dir) = files::plain_refs(repo) else { return false };
    let is_absent = fs::symlink_metadata(common_dir.join(folder)).is_err_and(|error| is_absence(&error));
    // A ref of any name in it would be in the way of its own folder.
    is_absent && files::packed_name(&common_dir, folder.trim_end_matches('/')) == Some(PackedName::Free)
}

/// What the refs say. One whose commit was lost makes git fail, so it is put aside then.
fn read(repo: &Path, run: Option<&str>) -> Result<Vec<ReadSnapshot>, GitError> {
    match try_read(repo, run) {
        Err(GitError::Failed { .. }) if is_vault(repo) => {
            put_lost_refs_aside(repo)?;
            try_read(repo, run)
        }
        answer => answer,
    }
}

fn try_read(repo: &Path, run: Option<&str>) -> Result<Vec<ReadSnapshot>, GitError> {
    const FORMAT: &str = "--format=%(refname)%00%(objectname)%00%(tree)%00%(contents)%00";
    let (mut all, mut fields) = (Vec::new(), Vec::with_capacity(4));
    Git::about(repo).args(["for-each-ref", FORMAT, "--", &folder(run)?]).records(&mut |record| {
        fields.push(String::from_utf8_lossy(record).into_owned());
        if fields.len() == 4 {
            all.extend(ReadSnapshot::parse(&fields));
            fields.clear();
        }
        Ok(())
    })?;
    Ok(all)
}
