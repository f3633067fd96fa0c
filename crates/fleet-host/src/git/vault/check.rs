//! Looking for damage in a vault, for people. Changes nothing.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::bad_refs::{self, BAD_REFS_FOLDER};
use crate::git::command::Git;
use crate::git::error::GitError;
use crate::git::gitdir::is_absence;

/// A user waits for the answer: a very large vault is not looked at to the end.
const CHECK_TIMEOUT: Duration = Duration::from_mins(1);
/// What a repository cannot be without.
const NEEDED: [&str; 3] = ["HEAD", "config", "objects"];
/// How many of git's findings are passed on.
const MAX_NAMED: usize = 3;

/// What is wrong with a vault, in a sentence each; empty is good. One whose repository is away cannot be judged.
pub fn check_vault(repo: &Path, dir: &Path) -> Result<Vec<String>, GitError> {
    if !repo.join("objects").is_dir() {
        return Ok(Vec::new());
    }
    let missing: Vec<&str> = NEEDED.into_iter().filter(|name| !dir.join(name).exists()).collect();
    if !missing.is_empty() {
        return Ok(vec![format!("{} is missing", missing.join(", "))]);
    }
    let mut findings = Vec::new();
    match bad_refs::bad(&dir.join("refs")).len() {
        0 => {}
        bad => findings.push(format!("{bad} refs cannot be read")),
    }
    match aside(&dir.join(BAD_REFS_FOLDER))? {
        0 => {}
        lost => {
            findings.push(format!("{lost} snapshots were lost before; their names are in {BAD_REFS_FOLDER}"));
        }
    }
    // A partial clone lacks what its remote promised.
    if findings.is_empty() && !dir.join("partial").exists() {
        findings.extend(damaged_objects(repo, dir)?);
    }
    Ok(findings)
}

fn aside(folder: &Path) -> Result<usize, GitError> {
    match fs::read_dir(folder) {
        Ok(entries) => Ok(entries.count()),
        Err(error) if is_absence(&error) => Ok(0),
        Err(error) => Err(GitError::io(folder)(error)),
    }
}

/// What git says about objects that are needed and cannot be read, and about packs that are not what was written.
fn damaged_objects(repo: &Path, dir: &Path) -> Result<Vec<String>, GitError> {
    let mut all =
        vec![Git::about(dir).args(["fsck", "--connectivity-only", "--no-dangling", "--no-progress"])];
    let shallow = repo.join("shallow");
    if shallow.exists() {
        all = all.into_iter().map(|git| git.env("GIT_SHALLOW_FILE", &shallow)).collect();
    }
    let packs =
        fs::read_dir(dir.join("objects/pack")).into_iter().flatten().flatten().map(|entry| entry.path());
    let indexes = packs.filter(|path| path.extension().is_some_and(|end| end == "idx"));
    all.extend(indexes.map(|index| Git::about(dir).args(["verify-pack", "--"]).arg(index)));
    let mut findings = Vec::new();
    for git in all {
        let answer = match git.patience(CHECK_TIMEOUT).answer() {
            Err(GitError::TimedOut { .. }) => continue,
            answer => answer?,
        };
        if answer.code != Some(0) {
            let said = String::from_utf8_lossy(&answer.stdout).into_owned() + "\n" + &answer.stderr;
            let lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
            findings.extend(lines.take(MAX_NAMED).map(ToOwned::to_owned));
        }
    }
    Ok(findings)
}
