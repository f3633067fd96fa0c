//! Which work has arrived where it was meant to go.
//!
//! Owns the questions that come before anything is tidied up: what the branches are, where work lands, which commits
//! are not there yet. All answers come from a fixed number of git processes, however many branches there are.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::capture::Scratch;
use super::command::Git;
use super::error::GitError;
use super::oid::Oid;
use super::refs;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// Without `refs/heads/`.
    pub name: String,
    pub commit: Oid,
    pub tree: Oid,
    pub checked_out: Option<PathBuf>,
}

/// A place where work lands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Landing {
    /// As people know it.
    pub name: String,
    pub commit: Oid,
    pub tree: Oid,
}

pub fn branches(repo: &Path) -> Result<Vec<Branch>, GitError> {
    const FORMAT: &str = "--format=%(refname)%00%(objectname)%00%(tree)%00%(worktreepath)%00";
    let (mut all, mut fields) = (Vec::new(), Vec::with_capacity(4));
    Git::about(repo).args(["for-each-ref", FORMAT, "--", "refs/heads/"]).records(&mut |record| {
        fields.push(record.to_vec());
        if fields.len() == 4 {
            all.extend(branch(&fields));
            fields.clear();
        }
        Ok(())
    })?;
    Ok(all)
}

fn branch(fields: &[Vec<u8>]) -> Option<Branch> {
    let [name, commit, tree, place] = fields else { return None };
    let text = |bytes: &[u8]| std::str::from_utf8(bytes).ok().map(|text| text.trim().to_owned());
    Some(Branch {
        name: text(name)?.strip_prefix("refs/heads/")?.to_owned(),
        commit: Oid::parse(&text(commit)?).ok()?,
        tree: Oid::parse(&text(tree)?).ok()?,
        checked_out: (!place.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(place))),
    })
}

/// Where work lands: the current commit of the main checkout, and the usual main branches, here and at the origin.
pub fn landings(repo: &Path) -> Result<Vec<Landing>, GitError> {
    const NAMES: [(&str, &str); 4] = [
        ("HEAD", "HEAD"),
        ("main", "refs/heads/main"),
        ("master", "refs/heads/master"),
        ("origin", "refs/remotes/origin/HEAD"),
    ];
    let mut found: Vec<Landing> = Vec::new();
    for (name, rev) in NAMES {
        let commit = match refs::resolve_commit(repo, rev) {
            Ok(commit) => commit,
            Err(GitError::NoSuchCommit { .. }) => continue,
            Err(error) => return Err(error),
        };
        if found.iter().all(|landing| landing.commit != commit) {
            let tree = refs::tree_of(repo, &commit)?;
            found.push(Landing { name: name.to_owned(), commit, tree });
        }
    }
    Ok(found)
}

/// Those of the commits that none of the landings contains.
pub fn not_landed(
    repo: &Path,
    commits: &BTreeSet<Oid>,
    landings: &[Landing],
) -> Result<BTreeSet<Oid>, GitError> {
    let wanted = commits.iter().map(ToString::to_string);
    let known = landings.iter().map(|landing| format!("^{}", landing.commit));
    let asked: Vec<String> = wanted.chain(known).collect();
    let mut missing = BTreeSet::new();
    if !commits.is_empty() {
        listed(repo, &["--ignore-missing"], &asked, &mut |line| {
            missing.extend(Oid::parse(line).ok().filter(|oid| commits.contains(oid)));
        })?;
    }
    Ok(missing)
}

pub fn trees(repo: &Path, commits: &BTreeSet<Oid>) -> Result<BTreeMap<Oid, Oid>, GitError> {
    let asked: Vec<String> = commits.iter().map(ToString::to_string).collect();
    let (mut all, mut commit) = (BTreeMap::new(), None);
    if !asked.is_empty() {
        let options = ["--no-walk=unsorted", "--ignore-missing", "--format=%T"];
        listed(repo, &options, &asked, &mut |line| match line.strip_prefix("commit ") {
            Some(name) => commit = Oid::parse(name).ok(),
            None => all.extend(commit.take().zip(Oid::parse(line).ok())),
        })?;
    }
    Ok(all)
}

/// How many files differ between two commits or trees.
pub fn differing_files(repo: &Path, from: &Oid, to: &Oid) -> Result<usize, GitError> {
    let mut count = 0;
    let git = Git::about(repo).args(["diff-tree", "-r", "--no-renames", "--name-only", "-z"]);
    git.args([from.as_str(), to.as_str(), "--"]).records(&mut |_| {
        count += 1;
        Ok(())
    })?;
    Ok(count)
}

/// Runs `rev-list` and passes its lines on.
fn listed(
    repo: &Path,
    options: &[&str],
    asked: &[String],
    each: &mut dyn FnMut(&str),
) -> Result<(), GitError> {
    let input = Scratch::input(asked.join("\n").as_bytes())?;
    let mut open = Vec::new();
    Git::about(repo).args(["rev-list"]).args(options).arg("--stdin").stdin(input).feed(&mut |piece| {
        open.extend_from_slice(piece);
        let Some(end) = open.iter().rposition(|byte| *byte == b'\n') else { return Ok(()) };
        open[..end].split(|byte| *byte == b'\n').for_each(|line| each(&String::from_utf8_lossy(line)));
        open.drain(..=end);
        Ok(())
    })
}
