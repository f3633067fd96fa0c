//! Keeping commits that are about to lose their branches.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::message::MessageFacts;
use super::{FOLDER, OUR_EMAIL, OUR_NAME, check_run, stored};
use crate::git::capture::ScratchFile;
use crate::git::command::Git;
use crate::git::error::GitError;
use crate::git::foreign::{Take, TakeError, take};
use crate::git::oid::Oid;
use crate::git::refs;
use crate::git::retries::LockRetries;
use crate::git::vault::{Vault, beginnings, users_tips};

#[derive(Debug, Clone, Copy)]
pub struct KeepCommits<'a> {
    /// The git common directory of the user's repository.
    pub repo: &'a Path,
    /// Our own git directory, which is to have them. It has or borrows them.
    pub vault: &'a Path,
    pub run: &'a str,
    /// The commits, and why each is kept, in a few words.
    pub commits: &'a [(Oid, String)],
    /// In seconds since 1970.
    pub at_seconds: i64,
}

/// Keeps commits among the snapshots of a run, each as a snapshot of a work tree that has nothing but that commit. The
/// names of their refs. A thousand cost hardly more than one.
pub fn keep_commits(wish: &KeepCommits<'_>) -> Result<Vec<String>, GitError> {
    check_run(wish.run)?;
    if wish.commits.is_empty() {
        return Ok(Vec::new());
    }
    let vault = Vault::of(wish.repo, wish.vault)?;
    let tips: Vec<Oid> = wish.commits.iter().map(|(commit, _)| commit.clone()).collect();
    let known = hold_beginnings(&vault, &tips)?;
    import(wish.vault, &tips, &known)?;
    let names = name_all(wish, &write_all(wish)?)?;
    // Once more: a cleanup at the same time may not have seen the refs.
    known.iter().try_for_each(|commit| vault.hold(commit))?;
    Ok(names)
}

/// The same for one commit. The name of its ref, which may be that of the last snapshot if that has the same content.
pub fn keep_commit(wish: &KeepCommits<'_>) -> Result<String, GitError> {
    if let Some(last) = stored::last(wish.vault, wish.run)?
        && let [(commit, why)] = wish.commits
        && last.facts.same_content(&facts(wish, commit, why))
        && last.tree == refs::tree_of(wish.vault, commit)?
    {
        return Ok(last.ref_name);
    }
    let name = keep_commits(wish)?.into_iter().next();
    name.ok_or_else(|| GitError::Refused("there is no commit to keep".to_owned()))
}

fn facts(wish: &KeepCommits<'_>, commit: &Oid, why: &str) -> MessageFacts {
    MessageFacts {
        run: wish.run.to_owned(),
        why: why.to_owned(),
        at_seconds: wish.at_seconds,
        head: Some(commit.clone()),
        staged: None,
        nested: None,
    }
}

/// Writes a commit on top of each of them, with the same files, by one git process.
fn write_all(wish: &KeepCommits<'_>) -> Result<Vec<Oid>, GitError> {
    const BRANCH: &str = "refs/fleet/unnamed";
    let who = format!("{OUR_NAME} <{OUR_EMAIL}> {} +0000", wish.at_seconds.max(0));
    let mut stream = String::new();
    for (number, (commit, why)) in wish.commits.iter().enumerate() {
        let message = facts(wish, commit, why).to_message();
        let (mark, length) = (number + 1, message.len());
        // Writing to a string cannot fail.
        let _ = write!(
            stream,
            "commit {BRANCH}\nmark :{mark}\ncommitter {who}\ndata {length}\n{message}\nfrom {commit}\n\n"
        );
    }
    // So that there is no such branch.
    let _ = write!(stream, "reset {BRANCH}\n\n");
    let (_stream, input) = ScratchFile::new(wish.vault, "stream").with(stream.as_bytes())?;
    let marks = ScratchFile::new(wish.vault, "marks");
    let mut option = std::ffi::OsString::from("--export-marks=");
    option.push(marks.path());
    Git::about(wish.vault)
        .setting("fastimport.unpackLimit=0")
        .args(["fast-import", "--quiet"])
        .arg(option)
        .stdin(input)
        .run()?;
    read_marks(&marks, wish.commits.len())
}

/// Reads lines such as `:1 OID`.
fn read_marks(marks: &ScratchFile, count: usize) -> Result<Vec<Oid>, GitError> {
    let text = fs::read_to_string(marks.path()).map_err(GitError::io(marks.path()))?;
    let parse = |line: &str| {
        let (mark, oid) = line.strip_prefix(':')?.split_once(' ')?;
        Some((mark.parse::<usize>().ok()?, Oid::parse(oid).ok()?))
    };
    let mut found: Vec<(usize, Oid)> = text.lines().filter_map(parse).collect();
    found.sort_unstable();
    if found.len() == count {
        Ok(found.into_iter().map(|(_, oid)| oid).collect())
    } else {
        Err(GitError::Refused(format!("git wrote {} of {count} commits", found.len())))
    }
}

/// Gives the snapshots their numbers, all or none.
fn name_all(wish: &KeepCommits<'_>, snapshots: &[Oid]) -> Result<Vec<String>, GitError> {
    let mut retries = LockRetries::in_git_dir(wish.vault);
    let mut passed_over = 0;
    loop {
        let last = stored::last(wish.vault, wish.run)?.map_or(0, |last| last.number);
        let first = last.saturating_add(1).saturating_add(passed_over);
        let names: Vec<String> =
            (first..).take(snapshots.len()).map(|number| format!("{FOLDER}/{}/{number}", wish.run)).collect();
        let line = |(name, commit): (&String, &Oid)| format!("create {name} {commit}\n");
        let lines: String = names.iter().zip(snapshots).map(line).collect();
        let (_file, input) = ScratchFile::new(wish.vault, "names").with(lines.as_bytes())?;
        match Git::about(wish.vault).args(["update-ref", "--no-deref", "--stdin"]).stdin(input).run() {
            Ok(()) => return Ok(names),
            // Another process was quicker, or a killed one left the lock of a number.
            Err(error) => retries.pause_after(error)?,
        }
        passed_over += 1;
    }
}

/// Holds the commits at which histories leave what the user's repository keeps in any case. Refs at the commits
/// themselves do not count: they are about to go.
pub(super) fn hold_beginnings(vault: &Vault, commits: &[Oid]) -> Result<Vec<Oid>, GitError> {
    let mut others = users_tips(vault)?;
    others.extend(vault.holds()?.all()?);
    others.retain(|other| !commits.contains(other));
    let found = beginnings(vault, commits, &others)?;
    found.iter().try_for_each(|commit| vault.hold(commit))?;
    Ok(found)
}

/// Gives the vault a copy of commits and all that they reach, apart from what is held for them.
fn import(vault: &Path, commits: &[Oid], known: &[Oid]) -> Result<(), GitError> {
    take(vault, &Take { staged: None, tips: commits, known }).map_err(|error| match error {
        TakeError::Refused { why } => GitError::Refused(format!("commits cannot be kept: {why}")),
        TakeError::Git(error) => error,
    })
}
