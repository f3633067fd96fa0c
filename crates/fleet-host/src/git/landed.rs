//! Which work has arrived where it was meant to go.
//!
//! Owns the questions that come before anything is tidied up: what the branches are, where work lands, which commits
//! are not there yet. All answers come from a fixed number of git processes, however many branches there are. For a single
//! commit, it also finds work that landed under another name: squashed, rebased or cherry-picked.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::capture::ScratchFile;
use super::command::Git;
use super::commit::commit_as_user;
use super::error::GitError;
use super::merge::{MergeCheck, merge_tree};
use super::oid::Oid;
use super::refs;

/// Comparing patches takes as long as there are commits on the other side.
const COMPARE_TIMEOUT: Duration = Duration::from_secs(30);

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
pub struct LandingTarget {
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
pub fn landings(repo: &Path) -> Result<Vec<LandingTarget>, GitError> {
    const NAMES: [(&str, &str); 4] = [
        ("HEAD", "HEAD"),
        ("main", "refs/heads/main"),
        ("master", "refs/heads/master"),
        ("origin", "refs/remotes/origin/HEAD"),
    ];
    let mut found: Vec<LandingTarget> = Vec::new();
    for (name, rev) in NAMES {
        let commit = match refs::resolve_commit(repo, rev) {
            Ok(commit) => commit,
            Err(GitError::NoSuchCommit { .. }) => continue,
            Err(error) => return Err(error),
        };
        if found.iter().all(|landing| landing.commit != commit) {
            let tree = refs::tree_of(repo, &commit)?;
            found.push(LandingTarget { name: name.to_owned(), commit, tree });
        }
    }
    Ok(found)
}

/// Those of the commits that none of the landings contains.
pub fn not_landed(
    repo: &Path,
    commits: &BTreeSet<Oid>,
    landings: &[LandingTarget],
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

/// Whether `current` has the work of a commit, however it got there: merged, rebased, cherry-picked or squashed. May write
/// objects, so ask the vault.
pub fn has_work(repo: &Path, current: &Oid, work: &Oid) -> Result<bool, GitError> {
    if refs::is_ancestor(repo, work, current)? {
        return Ok(true);
    }
    // Nothing has landed since the work began.
    if refs::is_ancestor(repo, current, work)? {
        return Ok(false);
    }
    match has_equal_work(repo, current, work) {
        // A partial clone lacks files, and a long history takes too long: then it counts as work that has not landed.
        Err(GitError::Failed { .. } | GitError::TimedOut { .. }) => Ok(false),
        answer => answer,
    }
}

/// Whether merging the work would change nothing, or its patches are among those of `current`. The first holds until
/// somebody changes the same lines again, the second whatever happened afterwards.
fn has_equal_work(repo: &Path, current: &Oid, work: &Oid) -> Result<bool, GitError> {
    let tree = refs::tree_of(repo, current)?;
    if merge_tree(repo, current, work)? == (MergeCheck::Clean { tree }) {
        return Ok(true);
    }
    if has_patches(repo, current, work)? {
        return Ok(true);
    }
    let fork = Git::about(repo).args(["merge-base", current.as_str(), work.as_str()]).answer()?;
    if fork.code != Some(0) {
        return Ok(false);
    }
    let (fork, tree) = (fork.oid()?, refs::tree_of(repo, work)?);
    let squashed = commit_as_user(|| {
        Git::about(repo).args(["commit-tree", tree.as_str(), "-p", fork.as_str(), "-m", "squashed"])
    })?;
    has_patches(repo, current, &squashed)
}

/// Whether each commit that only `work` has makes the same change as one that only `current` has. Not known of a merge,
/// which may have changes of its own.
fn has_patches(repo: &Path, current: &Oid, work: &Oid) -> Result<bool, GitError> {
    let has_none = |kinds: &[&str]| {
        let git = Git::about(repo).patience(COMPARE_TIMEOUT);
        let git = git.args(["rev-list", "--right-only", "--max-count=1"]).args(kinds);
        Ok(git.arg(format!("{current}...{work}")).arg("--").bytes()?.is_empty())
    };
    Ok(has_none(&["--merges"])? && has_none(&["--cherry-pick", "--no-merges"])?)
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
    let input = ScratchFile::input(asked.join("\n").as_bytes())?;
    let mut open = Vec::new();
    Git::about(repo).args(["rev-list"]).args(options).arg("--stdin").stdin(input).feed(&mut |piece| {
        open.extend_from_slice(piece);
        let Some(end) = open.iter().rposition(|byte| *byte == b'\n') else { return Ok(()) };
        open[..end].split(|byte| *byte == b'\n').for_each(|line| each(&String::from_utf8_lossy(line)));
        open.drain(..=end);
        Ok(())
    })
}
